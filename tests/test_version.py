"""Versions name what results depend on, down to the instruction sets."""

import torch

from oddkout.version import __version__, instructions, versions


def test_versions_are_plain_words():
    found = versions()
    assert found["oddkout"] == __version__
    assert found["torch"] == torch.__version__
    assert found["instructions"] == instructions()
    assert all(isinstance(value, str) and value for value in found.values())


def test_instructions_name_what_the_processor_has_and_what_limits_it(monkeypatch):
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    known = {"avx512_bf16": True, "amx_bf16": True, "avx2": True}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: known, raising=False)
    assert instructions() == "AVX512 avx512_bf16 amx_bf16"
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
    assert instructions() == "AVX512 avx512_bf16 amx_bf16 limited to AVX512_CORE_BF16"
    known["amx_bf16"] = False
    assert instructions().startswith("AVX512 avx512_bf16 limited")


def test_instructions_are_known_to_older_versions_of_torch(monkeypatch):
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert instructions() == torch.backends.cpu.get_cpu_capability()
