"""
A ParlAI classifier around any Hugging Face sequence classifier: evaluates published
detectors (FactCC, ALBERT with VitaminC, NLI models) and trains your own.

``--classifier`` names a preset, whose ``detector`` section says which model to use,
what its outputs mean and how it reads a pair. The rest is TorchClassifierAgent's.
"""

import copy
from typing import Any

import torch
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, History, Output
from parlai.core.torch_classifier_agent import TorchClassifierAgent
from parlai.utils.data import DatatypeHelper
from parlai.utils.misc import warn_once
from parlai.utils.typing import TShared

from parlai_q2.agents.hf_classifier.dictionary import HfClassifierDictionaryAgent
from parlai_q2.agents.hf_classifier.modules import (
    HfClassifierModel,
    load_network,
    longest_input,
    save_folder,
)
from parlai_q2.agents.hf_classifier.options import (
    add_options,
    at_most,
    classifier_config,
    default_classes,
    pair_input,
)
from parlai_q2.errors import ConfigError
from parlai_q2.models.hugging_face import reads_segments
from parlai_q2.parlai.classification import class_metrics, need_pair
from parlai_q2.parlai.model_files import WeightsOnly, expect_no_model_file
from parlai_q2.text.class_map import map_classes, parse_class_map

SEGMENTS = 'segment_vec'


class HfClassifierAgent(WeightsOnly, TorchClassifierAgent):
    """Trains and evaluates a Hugging Face sequence classifier."""

    model: Any  # ParlAI's own

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Opt | None = None
    ) -> ParlaiParser:
        super().add_cmdline_args(parser, partial_opt=partial_opt)
        return add_options(parser)

    @staticmethod
    def dictionary_class() -> type[HfClassifierDictionaryAgent]:
        return HfClassifierDictionaryAgent

    def __init__(self, opt: Opt, shared: TShared | None = None):
        if shared:
            self.classifier, self.pair_input = shared['classifier']
        else:
            expect_no_model_file(opt)
            opt = copy.deepcopy(opt)
            # First, because ParlAI determines here which saved model to read.
            self._get_init_model(opt, shared)
            self.classifier = classifier_config(opt)
            self.pair_input = pair_input(self.classifier, opt.get('text_truncate'))
            _settle_classes(opt, default_classes(self.classifier))
            if opt.get('update_classifier_head_only'):
                # ParlAI knows the head by another name, and would freeze it too.
                raise ConfigError('HfClassifier has no --update-classifier-head-only.')
        super().__init__(opt, shared)
        self.id = 'HfClassifier'
        if not shared:
            limit = longest_input(self.network, self.dict.hf_tokenizer)
            self.pair_input = at_most(self.pair_input, limit)

    def share(self) -> TShared:
        return {**super().share(), 'classifier': (self.classifier, self.pair_input)}

    @property
    def network(self) -> Any:
        """The Hugging Face model."""
        # Data-parallel training wraps the model in another.
        return getattr(self.model, 'module', self.model).hf

    def build_model(self) -> HfClassifierModel:
        hf, outputs = load_network(self.opt, self.classifier, self.class_list)
        class_map = parse_class_map(self.opt.get('class_map'))
        classes = map_classes(outputs, self.class_list, class_map)
        for name in classes.without_output:
            if DatatypeHelper.is_training(self.opt['datatype']):
                raise ConfigError(
                    f'No output of {self.classifier.model} '
                    f'({", ".join(filter(None, outputs))}) stands for the class '
                    f'{name!r}, so it cannot be trained. Give --class-map, or '
                    'train a new head: --classifier bert_conv_fever.'
                )
            warn_once(
                f'No output of {self.classifier.model} stands for the class '
                f'{name!r}, so it is never predicted. Use --class-map to give it '
                'one.'
            )
        return HfClassifierModel(hf, classes)

    def save(self, path: str | None = None) -> None:
        """
        Save weights and options, and beside them a complete Hugging Face model.
        """
        super().save(path)
        path = path or self.opt.get('model_file')
        if path:
            save_folder(path, self.network, self.dict.hf_tokenizer, self.pair_input)

    def _set_text_vec(
        self, obs: Message, history: History, truncate: int | None
    ) -> Message:
        """
        Put the pair's tokens into the message; earlier turns of the episode are not
        read.
        """
        if obs.is_padding() or not ('text' in obs or 'response' in obs):
            return obs
        pair = need_pair(obs)
        encoded = self.pair_input.encode(self.dict.hf_tokenizer, [pair])
        obs.force_set('full_text', '\n'.join(pair))
        obs.force_set('text_vec', torch.LongTensor(encoded['input_ids'][0]))
        has_segments = 'token_type_ids' in self.dict.hf_tokenizer.model_input_names
        if has_segments or reads_segments(self.network):
            segments = torch.LongTensor(encoded['token_type_ids'][0])
            obs.force_set(SEGMENTS, segments)
        return obs

    def is_valid(self, obs: Message) -> bool:
        return super().is_valid(obs) and obs.get('text_vec') is not None

    def batchify(
        self, obs_batch: list[Message], *args: object, **kwargs: object
    ) -> Batch:
        batch = super().batchify(obs_batch, *args, **kwargs)
        if batch.valid_indices is not None:
            rows = [obs_batch[i].get(SEGMENTS) for i in batch.valid_indices.tolist()]
            if all(row is not None for row in rows):
                padded = torch.zeros_like(batch.text_vec)
                for i, row in enumerate(rows):
                    padded[i, : len(row)] = row
                batch[SEGMENTS] = padded
        return batch

    def score(self, batch: Batch) -> torch.Tensor:
        """The scores of the classes, [B, C]."""
        tokens = batch.text_vec
        mask = (tokens != self.NULL_IDX).long()
        tensor: torch.Tensor = self.model(tokens, mask, batch.get(SEGMENTS))
        return tensor

    def eval_step(self, batch: Batch) -> Output | None:
        """
        Take ParlAI's own step; with ``--print-scores``, add the class list to each
        answer.
        """
        output = super().eval_step(batch)
        if output is not None and output.get('class_list') is not None:
            output.class_list = [list(self.class_list) for _ in output.text]
        return output

    def _get_labels(self, batch: Batch) -> torch.Tensor:
        unknown = sorted(set(batch.labels) - set(self.class_dict))
        if unknown:
            raise ConfigError(
                f'The task has the label {unknown[0]!r}, which is not one of the '
                f'classes {", ".join(self.class_list)}. If the labels are '
                "replies, use the task's ClassificationTeacher; if they are "
                'classes, name them all: --classes '
                + ' '.join(f'"{name}"' for name in [*self.class_list, *unknown])
            )
        tensor: torch.Tensor = super()._get_labels(batch)
        return tensor

    def _update_confusion_matrix(self, batch: Batch, predictions: list[str]) -> None:
        metrics = class_metrics(predictions, batch.labels, self.class_list)
        for name, values in metrics.items():
            self.record_local_metric(name, values)


def _settle_classes(opt: Opt, default: list[str]) -> None:
    """
    Write the classes into an ``opt``, first the one that ``--threshold`` is about;
    ParlAI moves it there only after it has numbered the classes.
    """
    if opt.get('classes_from_file'):
        return
    classes = list(opt.get('classes') or default)
    if len(set(classes)) != len(classes) or len(classes) < 2:
        raise ConfigError(
            f'--classes needs two or more different names, not {" ".join(classes)}.'
        )
    reference = opt.get('ref_class')
    if reference in classes:
        classes.remove(reference)
        classes.insert(0, reference)
    opt['classes'] = classes
