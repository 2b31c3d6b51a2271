"""Embedders and chat models: what they must do, the packaged ones, and doubles for tests.

Importing this package loads nothing heavy: take what you need from its modules, `embedder`, `onnx`, `chat`
and `doubles`. Model files are fetched and opened at the first text, not before.
"""
