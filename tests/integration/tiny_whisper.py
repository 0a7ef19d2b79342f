"""The smallest Whisper model that runs: random weights in CTranslate2's format, and a vocabulary of bytes."""

import json
from pathlib import Path
from typing import Any

import numpy as np

SIZE, MELS, FRAMES, LONGEST, STAMPS = 16, 80, 1_500, 448, 1_501
LANGUAGES = ("en", "es", "fr", "ar", "ro", "pt", "ca", "zh", "uk", "ru")
SPECIAL = (
    "<|endoftext|>",
    "<|startoftranscript|>",
    *(f"<|{language}|>" for language in LANGUAGES),
    "<|translate|>",
    "<|transcribe|>",
    "<|startoflm|>",
    "<|startofprev|>",
    "<|nospeech|>",
    "<|notimestamps|>",
)


def make(folder: Path) -> Path:
    """Write the model into a folder and give it. Needs the packages of the extra `voice`."""
    from ctranslate2.specs.whisper_spec import WhisperSpec  # noqa: PLC0415  not among the tools for tests

    folder.mkdir()
    letters = _letters()
    words = [*letters, *SPECIAL, *(f"<|{number * 0.02:.2f}|>" for number in range(STAMPS))]
    spec = WhisperSpec(1, 2, 1, 2)
    _fill(spec, len(words))
    spec.register_vocabulary(words)
    spec.config.suppress_ids = spec.config.suppress_ids_begin = []
    spec.config.lang_ids = [words.index(f"<|{language}|>") for language in LANGUAGES]
    spec.config.alignment_heads = [(0, 0)]
    spec.validate()
    spec.save(str(folder))
    _save_tokenizer(folder, letters, words)
    return folder


def _fill(spec: Any, words: int) -> None:
    dice = np.random.default_rng(0)

    def weights(*shape: int) -> Any:
        return (dice.standard_normal(shape) * 0.1).astype(np.float32)

    def linear(layer: Any, outputs: int, inputs: int = SIZE) -> None:
        layer.weight, layer.bias = weights(outputs, inputs), np.zeros(outputs, np.float32)

    def norm(layer: Any) -> None:
        layer.gamma, layer.beta = np.ones(SIZE, np.float32), np.zeros(SIZE, np.float32)

    encoder, decoder = spec.encoder, spec.decoder
    encoder.conv1.weight, encoder.conv2.weight = weights(SIZE, MELS, 3), weights(SIZE, SIZE, 3)
    encoder.conv1.bias = encoder.conv2.bias = np.zeros(SIZE, np.float32)
    encoder.position_encodings.encodings, decoder.position_encodings.encodings = weights(FRAMES, SIZE), weights(LONGEST, SIZE)
    decoder.embeddings.weight = decoder.projection.weight = weights(words, SIZE)
    norm(encoder.layer_norm)
    norm(decoder.layer_norm)
    for layer in (*encoder.layer, *decoder.layer):
        norm(layer.self_attention.layer_norm)
        linear(layer.self_attention.linear[0], 3 * SIZE)
        linear(layer.self_attention.linear[1], SIZE)
        norm(layer.ffn.layer_norm)
        linear(layer.ffn.linear_0, 4 * SIZE)
        linear(layer.ffn.linear_1, SIZE, 4 * SIZE)
    for layer in decoder.layer:
        norm(layer.attention.layer_norm)
        for part, outputs in enumerate((SIZE, 2 * SIZE, SIZE)):
            linear(layer.attention.linear[part], outputs)


def _letters() -> list[str]:
    """Give the sign that stands for each byte in the tokenizers of GPT-2 and Whisper."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    signs = {byte: chr(byte) for byte in shown} | {byte: chr(256 + place) for place, byte in enumerate(hidden)}
    return [signs[byte] for byte in range(256)]


def _save_tokenizer(folder: Path, letters: list[str], words: list[str]) -> None:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers  # noqa: PLC0415

    tokenizer = Tokenizer(models.BPE(vocab={letter: place for place, letter in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(word, special=True) for word in SPECIAL])
    tokenizer.add_tokens([AddedToken(word, special=False) for word in words[len(letters) + len(SPECIAL) :]])
    tokenizer.save(str(folder / "tokenizer.json"))
    shape = {"feature_size": MELS, "sampling_rate": 16_000, "hop_length": 160, "chunk_length": 30, "n_fft": 400}
    (folder / "preprocessor_config.json").write_text(json.dumps(shape), "utf-8")
