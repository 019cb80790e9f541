/** A model that hears and speaks by itself, driven by hand: a test sees what each session was told and says what it tells. */
import type { Law } from '../../../shared/audio/law.ts';
import type {
  RealtimeCaps,
  RealtimeEvent,
  RealtimeModel,
  RealtimeSeed,
} from '../../../worker/stages/realtime/contract.ts';

export interface ScriptedModelSession {
  readonly seed: RealtimeSeed;
  /** The law of the caller's line. */
  readonly law: Law | undefined;
  /** What it was told, the audio of a turn as one entry. */
  readonly told: string[];
  readonly say: (event: RealtimeEvent) => void;
  isClosed: boolean;
}

const allCaps: RealtimeCaps = {
  truncates: true,
  removes: true,
  answersTurns: false,
  answersTools: false,
  updates: true,
  cancels: true,
};

export class ScriptedModel {
  readonly caps = allCaps;
  readonly sessions: ScriptedModelSession[] = [];
  readonly model: RealtimeModel;

  constructor(caps: Partial<RealtimeCaps> = {}) {
    this.model = {
      provider: 'scripted',
      open: ({ law }, seed, sink) => {
        const told: string[] = [];
        this.sessions.push({
          seed,
          law,
          told,
          say: (event) =>
            sink(event.type === 'ready' ? { ...event, caps: { ...allCaps, ...event.caps, ...caps } } : event),
          isClosed: false,
        });
        const session = this.sessions.at(-1);
        return {
          outputRate: 8_000,
          beginTurn: () => void told.push('begin'),
          audio: (pcm, ofLine) => {
            const sound = `${pcm[0] ?? ''}${ofLine === undefined ? '' : ` of the line's ${ofLine[0] ?? ''}`}`;
            if (told.at(-1)?.startsWith('audio') === true) told.push(`${told.pop() ?? ''},${sound}`);
            else told.push(`audio ${sound}`);
          },
          endTurn: () => void told.push('end'),
          abandonTurn: () => void told.push('abandon'),
          respond: (answer) => void told.push(`respond ${answer}`),
          cancel: () => void told.push('cancel'),
          append: (messages) => void told.push(...messages.map(({ role, text }) => `${role}: ${text}`)),
          truncate: (item, ms) => void told.push(`truncate ${item} ${ms}`),
          update: ({ instructions }) => void told.push(`update ${instructions}`),
          close: () => {
            if (session !== undefined) session.isClosed = true;
          },
        };
      },
      close: () => Promise.resolve(),
    };
  }

  get last(): ScriptedModelSession {
    const session = this.sessions.at(-1);
    if (session === undefined) throw new Error('no session was opened');
    return session;
  }

  /** The newest session takes audio. */
  ready(expiresInMs?: number): void {
    this.last.say({
      type: 'ready',
      caps: allCaps,
      ...(expiresInMs !== undefined && { expiresInMs }),
    });
  }
}
