/** What an LLM made of a call afterwards. Everything is written as text: it says what callers said. */
import { byId } from '../elements.ts';

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const written = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export function showAnalysis(analysis: Readonly<Record<string, unknown>> | undefined): void {
  const section = byId('analysis', HTMLElement);
  section.hidden = analysis === undefined;
  if (analysis === undefined) return;
  const { status, reason, summary, outcome, success, labels, data } = analysis;
  const body = byId('analysis-body', HTMLDivElement);
  body.replaceChildren();
  if (status === 'failed') body.append(paragraph(`It could not be made: ${written(reason)}.`));
  if (typeof summary === 'string') body.append(paragraph(summary));
  if (typeof outcome === 'string') body.append(paragraph(`Outcome: ${outcome}.`));
  if (Array.isArray(labels) && labels.length > 0)
    body.append(paragraph(`Labels: ${labels.map(written).join(', ')}.`));
  if (isTable(success))
    body.append(
      list(
        Object.entries(success).map(([name, criterion]) => {
          const { answer, quote } = isTable(criterion) ? criterion : {};
          const because = typeof quote === 'string' && quote !== '' ? `: “${quote}”` : '';
          return [name, `${written(answer)}${because}`];
        }),
      ),
    );
  if (isTable(data)) body.append(list(Object.entries(data).map(([name, value]) => [name, written(value)])));
}

function paragraph(text: string): HTMLParagraphElement {
  const made = document.createElement('p');
  made.textContent = text;
  return made;
}

function list(entries: readonly (readonly [string, string])[]): HTMLDListElement {
  const made = document.createElement('dl');
  for (const [name, value] of entries) {
    const [term, words] = [document.createElement('dt'), document.createElement('dd')];
    term.textContent = name;
    words.textContent = value;
    made.append(term, words);
  }
  return made;
}
