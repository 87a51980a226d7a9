"""What jobs have in common that train a model whole, and write it whole."""

from pathlib import Path
from typing import Any, Sequence

from parlai_q2.zoo.train.weights import write_folder


class WholeModel:
    """
    A job whose model is the initial one; one that trains a part of it says otherwise.

    :ivar tokenizer: the model's.
    """

    tokenizer: Any

    def student(self, model: Any, rows: Sequence[dict[str, Any]]) -> Any:
        """
        What is trained of the initial model: all of it.

        :param rows: what is trained on.
        """
        return model

    def write(self, model: Any, base: str, folder: Path) -> int:
        """
        Write the folder that the trained model ships in.

        :param base: the reference of the initial model.
        :return: the size of the weights in bytes.
        """
        return write_folder(model, self.tokenizer, folder)
