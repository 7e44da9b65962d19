"""The working tree beside an earlier commit, figure by figure: ``python -m benchmarks.guard``.

A figure is what a small program measures (`programs`, `row_programs`), each run in a process of its own (`child`),
under either tree in turn (`race`, `trees`), with a ratio or a value to reach (`figures`). The programs use lnnkit's
public interface alone, so that they run on any commit.
"""
