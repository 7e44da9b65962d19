"""The language: text -> a tree with the place of everything (`parse`), and back (`printer`). The grammar is in
`grammar/lnn.lark`, the tree in `ast`; `mistakes` lists what people write instead, `diagnosis` finds it."""
