/** An LLM that never reads what `[privacy]` names (`hide_from_llm`): it gets placeholders, and what it answers gets the values back. */
import type { Redactor } from '../../shared/calls/privacy/redactor.ts';
import { Placeholders, ShownPieces } from './placeholders.ts';
import type { LlmEvent, LlmRequest, LlmStage } from './stage.ts';

type Sink = (event: LlmEvent) => void;

const quoted = (value: string): string => JSON.stringify(value).slice(1, -1);

/** Gives the events of one round on, with the values of its request. */
function showing(placeholders: Placeholders, sink: Sink): Sink {
  const texts = new ShownPieces((text) => placeholders.shown(text));
  const calls = new Map<number, ShownPieces>();
  const argumentsOf = (index: number): ShownPieces => {
    const known = calls.get(index) ?? new ShownPieces((text) => placeholders.shown(text, quoted));
    calls.set(index, known);
    return known;
  };
  const rest = (): void => {
    const text = texts.end();
    if (text !== '') sink({ type: 'text', text });
    for (const [index, pieces] of calls) {
      const left = pieces.end();
      if (left !== '') sink({ type: 'tool-call', index, arguments: left });
    }
  };
  return (event) => {
    switch (event.type) {
      case 'text': {
        const text = texts.take(event.text);
        if (text !== '') sink({ type: 'text', text });
        return;
      }
      case 'tool-call':
        sink({ ...event, arguments: argumentsOf(event.index).take(event.arguments) });
        return;
      case 'done':
        rest();
        sink(event);
        return;
      case 'error':
        sink(event);
    }
  };
}

export function privateLlm(stage: LlmStage, redactor: Redactor): LlmStage {
  const hidden = (
    request: LlmRequest,
  ): { readonly request: LlmRequest; readonly placeholders: Placeholders } => {
    const placeholders = new Placeholders(redactor);
    return { request: { ...request, messages: placeholders.hidden(request.messages) }, placeholders };
  };
  return {
    provider: stage.provider,
    open: (context, { expects, ...call }) => {
      const given = expects && { expects: () => hidden(expects()).request };
      const session = stage.open(context, { ...call, ...given });
      return {
        start: (asked, sink) => {
          const { request, placeholders } = hidden(asked);
          return session.start(request, showing(placeholders, sink));
        },
        close: () => session.close(),
      };
    },
    close: () => stage.close(),
  };
}
