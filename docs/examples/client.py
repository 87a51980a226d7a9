"""A chat client of ``parlai_q2 serve``: ``pip install openai``."""

from openai import OpenAI

client = OpenAI(base_url='http://localhost:8080/v1', api_key='none')
completion = client.chat.completions.create(
    model='NAME',
    messages=[
        {'role': 'system', 'content': 'The museum opened in 1903.'},
        {'role': 'user', 'content': 'When did it open?'},
    ],
)
print(completion.choices[0].message.content)
print(completion.grounding['label'], completion.grounding['score'])
