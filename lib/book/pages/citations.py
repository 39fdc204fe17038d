"""Links to works, such as ``[Grove & Roth, 1997](../references.md#groveroth1997)``.

In a chapter's text they are links that work in any notebook; on its page they are the role
``cited``, which lists the work in the bibliography and leads to its entry there.
"""

from docutils import nodes
from sphinx.roles import XRefRole
from sphinx.util.nodes import make_refnode
from sphinxcontrib.bibtex.citation_target import parse_citation_targets
from sphinxcontrib.bibtex.roles import CitationRef


class Cited(XRefRole):
    """The role ``cited``: words that lead to an entry of the bibliography."""

    def __init__(self):
        super().__init__(innernodeclass=nodes.inline)

    def result_nodes(self, document, env, node, is_ref):
        """Note that the page cites the work."""
        node["refdomain"] = ""
        node["reftype"] = "cited"
        document.note_explicit_target(node, node)
        reference = CitationRef(
            citation_ref_id=node["ids"][0],
            docname=env.docname,
            line=document.current_line or 0,
            targets=list(parse_citation_targets(self.target)),
        )
        env.get_domain("cite").citation_refs.append(reference)
        return [node], []


def resolve(app, env, node, contnode):
    """Return the link to a work's entry; nothing for any other reference."""
    if node.get("reftype") != "cited":
        return None
    for citation in env.get_domain("cite").citations:
        if citation.key == node["reftarget"]:
            page = citation.bibliography_key.docname
            place = node["refdoc"]
            return make_refnode(app.builder, place, page, citation.citation_id, contnode)
    return None  # Sphinx warns
