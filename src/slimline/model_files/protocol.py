"""The layout of a model file, as a number."""

#: Layout of the model files that this version writes, and the newest that it reads.
#:
#: To change it: raise the number; let `StoredModel.read` bring older layouts to the new one, each by a function of its
#: own, `from_1_to_2` and so on; write a small file with the last release and keep it in tests/model_files/old, where a
#: test opens every file there. What is only added, and may be absent, needs no new number.
PROTOCOL = 1
