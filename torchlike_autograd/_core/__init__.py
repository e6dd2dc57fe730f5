"""Everything of ours that torch has no name for.  `README.md` beside this gives a reading order.

Glossary: one word for one thing.

* Value: one immutable array of the record, computed or pending.
* tape: the record of one thread between two flushes; afterwards the graph that it left.
* slot: the place of a value on a tape; negative for values from outside.
* prefix: the structure of a tape so far, a node of the trie; the key of a program.
* step: what one edge of the trie adds.
* label: the key of an edge.
* flush: run what is pending and reachable on a tape, and close it.
* program: a prefix with one set of wanted results.
* entry: the declaration of an operator; Spec: an entry with its structure fixed; Form: a Spec with its input types.
* pullback: the Form that gives the gradients of a Form's inputs.
* plan: a backward pass over one tape as structure; stage: a part of it that nobody can look into; cut: a place where someone can.
* leaf: the accumulation point of a tensor that requires grad and has no history.
* cell: the contents that tensors share; chain: how a view is read from its base; version, counter: torch's count of writes.
* kept: what a graph holds for its backward pass.
"""
