/** What the judges learn from marks: how much of a response was played, and how late the client plays. */
import type { CallEvent } from '../../../worker/core/events.ts';
import type { Story } from '../story.ts';

/** Between two frames. */
const tickMs = 20;

/** The echo of a mark that goes out right behind a frame tells the delay of the client; others come too soon. */
export function markSent(
  story: Story,
  { id, inside }: Extract<CallEvent, { type: 'mark.sent' }>,
  now: number,
): void {
  const inFlow = now - story.lastFrameAt < tickMs && (!story.held || story.ducked);
  story.newestMark = inFlow ? { id, sentAt: now } : undefined;
  const { response } = story;
  if (response !== undefined && inside?.context === response.context) {
    const { atMs } = inside;
    response.marks.set(id, { atMs, saidChars: 0, sentAt: undefined, inFlow: false, echoed: false });
  }
  const mark = response?.marks.get(id);
  if (mark === undefined) return;
  mark.sentAt = now;
  mark.inFlow = inFlow;
}

export function markPlayed(story: Story, id: string, now: number): void {
  story.echoKnown = true;
  if (story.newestMark?.id === id) {
    story.echoDelayMs = now - story.newestMark.sentAt;
    story.newestMark = undefined;
  }
  const { response } = story;
  const mark = response?.marks.get(id);
  if (response === undefined || mark?.sentAt === undefined || mark.echoed) return;
  if (mark.inFlow) story.echoDelayMs = now - mark.sentAt;
  response.echoedChars = Math.max(response.echoedChars, mark.saidChars);
  for (const other of response.marks.values()) if (other.atMs <= mark.atMs) other.echoed = true;
}
