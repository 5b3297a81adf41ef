"""The answer at the top of the control room: is all well, what is slow and why, what next."""

from dash import html
from dash.development.base_component import Component

from weir.components.pages.control_room.answer import Answer, Next, Trouble
from weir.components.ui.parts import Child, icon, until
from weir.components.ui.surface import page_link
from weir.components.ui.text import plural

_ICONS = {"ok": "check", "warn": "warn", "bad": "cross"}


def answer_body(answer: Answer) -> Component:
    """A verdict with its reasons, the bottleneck, and what waits for a decision."""
    return html.Div(
        [
            html.P(
                [icon(_ICONS.get(answer.state, "warn")), html.Strong(answer.said)],
                className="answer-said",
                **{"data-state": answer.state},
            ),
            html.Ul([_trouble(t) for t in answer.troubles], className="answer-troubles")
            if answer.troubles
            else None,
            _bottleneck(answer),
            _next(answer),
        ],
        className="answer-body",
    )


def _trouble(trouble: Trouble) -> Component:
    said: Child = page_link(trouble.text, trouble.path) if trouble.path else trouble.text
    return html.Li(said, **{"data-state": trouble.state})


def _bottleneck(answer: Answer) -> Component | None:
    if not answer.bottleneck:
        return None
    return html.P(
        [
            html.Span("Bottleneck", className="answer-label"),
            page_link(answer.bottleneck, answer.bottleneck_path),
        ],
        className="answer-line",
        **{"data-answer": "bottleneck"},
    )


def _next(answer: Answer) -> Component:
    label = html.Span("Next", className="answer-label")
    if answer.next:
        parts: list[Child] = [_proposal(item) for item in answer.next]
        if answer.more:
            parts.append(html.Li(f"and {answer.more} more in the inbox below", className="quiet"))
        said: Child = html.Ul(parts, className="answer-next")
    else:
        doing = f" {plural(answer.under_way, 'action')} under way." if answer.under_way else ""
        why = f" No proposal for {answer.why_none}" if answer.why_none and not doing else ""
        said = html.Span(f"Nothing waits for a decision.{doing}{why}")
    paused = html.Span(" Everything is paused.", className="quiet") if answer.paused else None
    return html.Div([label, said, paused], className="answer-line", **{"data-answer": "next"})


def _proposal(item: Next) -> Component:
    return html.Li(
        [
            "Decide: ",
            page_link(item.title, item.path),
            html.Span([" (expires in ", until(item.expires_at), ")"], className="quiet"),
        ]
    )
