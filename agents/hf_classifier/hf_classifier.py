"""
A ParlAI classifier around any Hugging Face sequence classifier: evaluates published
detectors (FactCC, ALBERT with VitaminC, NLI models) and trains your own.

``--classifier`` names a preset, whose ``detector`` section says which model to use,
what its outputs mean and how it reads a pair. The rest is TorchClassifierAgent's.

The folder beside a trained model (see :mod:`parlai_q2.parlai.model_files`) is a
complete Hugging Face model with ``classifier.yaml``, such a preset.

Shapes: B examples, L tokens, O outputs of the model, C classes.
"""

import copy
import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import yaml
from parlai.agents.hugging_face.dict import HuggingFaceDictionaryAgent
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, History, Output
from parlai.core.torch_classifier_agent import TorchClassifierAgent
from parlai.utils.data import DatatypeHelper
from parlai.utils.misc import warn_once
from parlai.utils.typing import TShared
from torch import nn

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.models.hugging_face import reads_segments
from parlai_q2.models.loading import NO_CODE, load_model, load_tokenizer
from parlai_q2.models.nli import (
    Head,
    PairInput,
    check_labels,
    find_labels,
    output_names,
)
from parlai_q2.options import Options
from parlai_q2.parlai.classification import add_class_map, class_metrics, need_pair
from parlai_q2.parlai.model_files import (
    SUFFIX,
    WeightsOnly,
    expect_no_model_file,
    saved_folder,
)
from parlai_q2.presets import ModelConfig, Section, load_preset
from parlai_q2.text.class_map import (
    ClassMap,
    Finding,
    is_unnamed,
    map_classes,
    parse_class_map,
)

DEFAULT_CLASSIFIER = 'mini'
SECTION = str(Section.DETECTOR)
# The file beside a trained model that describes its classifier, in preset format.
CLASSIFIER_FILE = 'classifier.yaml'
DEFAULT_CLASSES = ('consistent', 'inconsistent')
# How Santhanam et al. 2021 train their detector.
TRAINING = {
    'optimizer': 'adam',
    'learningrate': 2e-5,
    'lr_scheduler': 'none',
    'gradient_clip': 1.0,
}
SEGMENTS = 'segment_vec'
# The log probability of a class without any output. It is finite, so that the loss of
# an evaluation is not NaN.
NEVER = math.log(1e-6)


def add_options(parser: ParlaiParser) -> ParlaiParser:
    group = parser.add_argument_group('HfClassifier Agent')
    group.add_argument(
        '--classifier',
        type=str,
        default=DEFAULT_CLASSIFIER,
        help='a preset whose detector section is the classifier: mini (ships), '
        'factcc, albert_vitaminc, bert_conv_fever (to be trained), or a path to a '
        'YAML file. A saved --model-file takes precedence',
    )
    group.add_argument(
        '--hf-model',
        type=str,
        default=None,
        help="a folder or hub name of a model to use instead of the classifier's own",
    )
    add_class_map(group)
    parser.set_defaults(**TRAINING)
    return parser


def classifier_config(opt: Options) -> ModelConfig:
    """The classifier of the saved model, or else of ``--classifier``."""
    folder = saved_folder(opt)
    if folder is not None and (folder / CLASSIFIER_FILE).exists():
        config = load_preset(str(folder / CLASSIFIER_FILE)).model(SECTION)
        return dataclasses.replace(config, model=str(folder))
    name = opt.get('classifier') or DEFAULT_CLASSIFIER
    config = load_preset(name).model(SECTION)
    if opt.get('hf_model'):
        return dataclasses.replace(config, model=opt['hf_model'], revision=None)
    return config


def pair_input(config: ModelConfig, *limits: int | None) -> PairInput:
    """How a preset's classifier reads pairs; the smallest token limit applies."""
    names = {field.name for field in dataclasses.fields(PairInput)}
    form = PairInput(**{k: v for k, v in config.settings.items() if k in names})
    above_zero = [limit for limit in limits if limit is not None and limit > 0]
    return dataclasses.replace(form, max_tokens=min([form.max_tokens, *above_zero]))


class HfClassifierDictionaryAgent(HuggingFaceDictionaryAgent):
    """
    The dictionary of :class:`HfClassifierAgent`.

    ParlAI asks for a null, a start, an end and an unknown token; these are the
    tokenizer's padding, classification, separation and unknown tokens.
    """

    add_special_tokens = False
    skip_decode_special_tokens = True

    def get_tokenizer(self, opt: Opt) -> Any:
        if (folder := saved_folder(opt)) is not None:
            return load_tokenizer(str(folder))
        config = classifier_config(opt)
        return load_tokenizer(config.model, config.revision)

    def override_special_tokens(self, opt: Opt) -> None:
        tokenizer = self.hf_tokenizer
        if tokenizer.pad_token is None:
            raise ModelError(
                f'The tokenizer of {classifier_config(opt).model!r} has no pad_token. '
                'Set tokenizer.pad_token to one of its tokens and save it again with '
                'save_pretrained.'
            )
        self.null_token = tokenizer.pad_token
        self.start_token = tokenizer.cls_token or tokenizer.bos_token or self.null_token
        self.end_token = tokenizer.sep_token or tokenizer.eos_token or self.null_token
        self.unk_token = tokenizer.unk_token or self.null_token

    def txt2vec(self, text: str, vec_type: type = list) -> Any:
        return vec_type(
            self.hf_tokenizer.encode(text, add_special_tokens=False, verbose=False)
        )


class HfClassifierModel(nn.Module):
    """
    Scores each class by the outputs that are mapped to it. In evaluation, a class has
    the score of its likeliest output, so that the answer is the class of the likeliest
    output: the papers take the most likely of three classes before they merge two
    (Santhanam et al. 2021). In training, a class has the sum of the probabilities of
    its outputs, so that all of them learn. If each output is a class of its own, the
    scores are the model's logits.
    """

    def __init__(self, hf: nn.Module, classes: ClassMap):
        super().__init__()
        self.hf, self.class_map = hf, classes

    def forward(
        self,
        tokens: torch.Tensor,
        mask: torch.Tensor,
        segments: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """
        :param tokens: [B, L], padded on the right.
        :param mask: [B, L], 1 for tokens and 0 for padding.
        :param segments: [B, L], the text that each token belongs to; None for models
            without segments.
        :return: scores [B, C]; their softmax gives the probabilities of the classes.
        """
        inputs = {'input_ids': tokens, 'attention_mask': mask}
        if segments is not None:
            inputs['token_type_ids'] = segments
        logits: torch.Tensor = self.hf(**inputs).logits.float()  # [B, O]
        if self.class_map.members == tuple((i,) for i in range(logits.shape[1])):
            return logits
        outputs = logits.log_softmax(-1)
        never = torch.full_like(outputs[:, 0], NEVER)
        merge = torch.logsumexp if self.training else torch.amax
        columns = [
            merge(outputs[:, list(members)], -1) if members else never
            for members in self.class_map.members
        ]
        return torch.stack(columns, -1)  # [B, C]


def load_hf_model(
    opt: Options, config: ModelConfig, classes: Sequence[str]
) -> tuple[Any, list[str | None]]:
    """
    Load the Hugging Face model, ready for training, and the names of its outputs.

    :param classes: the names of a new head's outputs.
    :return: a sequence classifier in fp32, with random weights if ParlAI will read them
        from a model file; and a name for each output, None for an output to ignore.
    :raises ConfigError: when the meaning of its outputs is unknown.
    """
    from transformers import AutoConfig, AutoModelForSequenceClassification

    folder = saved_folder(opt)
    if folder is not None:
        model = AutoModelForSequenceClassification.from_config(
            AutoConfig.from_pretrained(folder, **NO_CODE)
        )
    elif config.settings.get('head', Head.TRAINED) == Head.NEW:
        model = load_model(
            config.model,
            AutoModelForSequenceClassification,
            revision=config.revision,
            ignore_mismatched_sizes=True,
            **name_outputs(classes),
        )
    else:
        labels = config.settings.get('labels')
        if labels is not None:
            check_labels(labels)
        model = load_model(
            config.model, AutoModelForSequenceClassification, revision=config.revision
        )
        fields = model.config.to_dict()
        indices = find_labels(labels, fields, config.model)
        names = output_names(fields)
        for label, index in indices.items():
            names[index] = label
        model.config.update(name_outputs(names))
    names = output_names(model.config.to_dict())
    outputs = [None if is_unnamed(name) else name for name in names]
    return model.float().requires_grad_(True), outputs


def name_outputs(names: Sequence[str]) -> dict[str, Any]:
    """Return the names of outputs in the form of a Hugging Face configuration."""
    return {
        'num_labels': len(names),
        'id2label': dict(enumerate(names)),
        'label2id': {name: index for index, name in enumerate(names)},
    }


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
            # This comes first: it determines which saved model ParlAI reads.
            self._get_init_model(opt, shared)
            self.classifier = classifier_config(opt)
            _settle_classes(opt, self.classifier)
            if opt.get('update_classifier_head_only'):
                # ParlAI expects another name of the head, and would freeze it too.
                raise ConfigError('HfClassifier has no --update-classifier-head-only.')
        super().__init__(opt, shared)
        self.id = 'HfClassifier'
        if not shared:
            self.pair_input = pair_input(
                self.classifier,
                opt.get('text_truncate'),
                getattr(self.hf_model.config, 'max_position_embeddings', None),
                # RoBERTa has unused positions; its tokenizer knows the true limit.
                int(self.dict.hf_tokenizer.model_max_length),
            )

    def share(self) -> TShared:
        return {**super().share(), 'classifier': (self.classifier, self.pair_input)}

    def build_model(self) -> HfClassifierModel:
        hf, outputs = load_hf_model(self.opt, self.classifier, self.class_list)
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
        """Save weights and options, and beside them a complete Hugging Face model."""
        super().save(path)
        path = path or self.opt.get('model_file')
        if path:
            folder = Path(path + SUFFIX)
            self.hf_model.save_pretrained(folder)
            self.dict.hf_tokenizer.save_pretrained(folder)
            section = {
                'model': str(folder.resolve()),
                **dataclasses.asdict(self.pair_input),
                'order': list(self.pair_input.order),
            }
            preset = {'name': Path(path).name, SECTION: section}
            text = yaml.safe_dump(preset, sort_keys=False)
            (folder / CLASSIFIER_FILE).write_text(text, encoding='utf-8')

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
        if has_segments or reads_segments(self.hf_model):
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


def _settle_classes(opt: Opt, config: ModelConfig) -> None:
    """
    Write the classes into an ``opt``, beginning with the class of ``--threshold``;
    ParlAI moves it to the front only after it has numbered the classes.
    """
    if opt.get('classes_from_file'):
        return
    default = list(DEFAULT_CLASSES)
    if Finding.GENERIC in (config.settings.get('labels') or {}):
        default.append(str(Finding.GENERIC))
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
