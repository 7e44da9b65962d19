"""The knowledge base: load, tell, infer, ask, explain, learn, save."""

from lnnkit.kb.knowledge_base import KnowledgeBase as KnowledgeBase
from lnnkit.kb.loading import load as load
from lnnkit.kb.loading import loads as loads
