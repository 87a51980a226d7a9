"""
Figures of scores and annotations, drawn with matplotlib, which the extra ``plots``
installs. Everything is drawn from plain numbers; whose they are is known elsewhere.
"""
