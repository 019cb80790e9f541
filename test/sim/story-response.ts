/** A response as the judges begin to know it: a new one, one that TTS has to repeat, or one that another worker had begun. */
import type { StoryResponse } from './story.ts';

export function newStoryResponse(from: {
  context: number;
  round: number | undefined;
  /** The response that this one repeats or goes on with. */
  former: StoryResponse | undefined;
  /** Where it goes on, when another worker had begun it. */
  base: { chars: number; ms: number } | undefined;
  usersBefore: number;
}): StoryResponse {
  const { context, round, former, base, usersBefore } = from;
  const takenOver = base !== undefined;
  return {
    context,
    round,
    continues: !takenOver && former?.broken === true,
    takenOver: takenOver || former?.takenOver === true,
    // Keys pressed into an answer stand behind all of it, also behind what is spoken again or later of it.
    usersBefore: former?.usersBefore ?? usersBefore,
    said: base === undefined ? '' : (former?.said ?? '').slice(0, base.chars),
    plain: '',
    flushed: false,
    announced: false,
    interruptible: former?.interruptible ?? true,
    hangUp: former?.hangUp ?? false,
    final: former?.final,
    broken: false,
    startedAt: takenOver ? former?.startedAt : undefined,
    drainedAt: undefined,
    drainedMs: 0,
    reported: base ?? { chars: 0, ms: 0 },
    marks: new Map(
      takenOver ? [...(former?.marks ?? [])].filter(([, { sentAt }]) => sentAt !== undefined) : [],
    ),
    echoedChars: takenOver ? (former?.echoedChars ?? 0) : 0,
    acknowledged: false,
  };
}
