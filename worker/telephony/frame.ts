/** Frames of carriers: JSON objects with objects in them, of which any may be something else; and what all carriers tell alike. Pure. */
import { fail, ok } from '../../shared/base/result.ts';
import { decodeClientFields, violation, type ClientMessage } from '../../shared/protocol/call.ts';
import type { Heard } from '../transports/socket/dialect.ts';
import { markCameBack, type SentMarks } from '../transports/socket/sent-marks.ts';

const parts = ['start', 'media', 'dtmf', 'mark', 'payload'];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** In place, because there are 50 of them a second in each call. */
function leaveOutBroken(message: Record<string, unknown>, names: readonly string[]): void {
  for (const name of names)
    if (message[name] !== undefined && !isObject(message[name])) message[name] = undefined;
}

/**
 * The message in a frame, undefined where it is none. Parts that ought to be objects and are none are left out, so that a field can be asked for;
 * their fields are checked where they are read. `format` names the format of the audio in `start`.
 */
export function readCarrierFrame(
  frame: string,
  format: 'mediaFormat' | 'media_format',
): Record<string, unknown> | undefined {
  let message: unknown;
  try {
    message = JSON.parse(frame);
  } catch {
    return undefined;
  }
  if (!isObject(message) || Array.isArray(message)) return undefined;
  leaveOutBroken(message, parts);
  if (isObject(message['start'])) leaveOutBroken(message['start'], [format]);
  return message;
}

export const nothing: Heard = { type: 'nothing' };
export const unknown: Heard = { type: 'message', message: { type: 'unknown' } };
export const heard = (message: ClientMessage): Heard => ({ type: 'message', message });

interface CarrierMessage {
  readonly event?: unknown;
  readonly dtmf?: { readonly digit?: unknown };
  readonly mark?: { readonly name?: unknown };
}

/** Keys, marks and the end of a call. */
export function heardBesideAudio(message: CarrierMessage, marks: SentMarks): Heard {
  switch (message.event) {
    case 'dtmf': {
      const key = decodeClientFields({ type: 'dtmf', digit: message.dtmf?.digit });
      // One that nobody knows, such as a flash, is no reason to end a telephone call.
      return key.type === 'dtmf' && !key.digit.ok ? nothing : heard(key);
    }
    case 'mark': {
      const name = message.mark?.name;
      return markCameBack(marks, name) ? heard({ type: 'mark', id: ok(String(name)) }) : nothing;
    }
    case 'stop':
      return heard({ type: 'stop' });
    default:
      // Carriers add events without notice.
      return nothing;
  }
}

export type StartFields = Extract<ClientMessage, { type: 'start' }>['fields'];

/** The start of a call as the WebSocket call protocol has it. */
export function startOf(fields: Readonly<Record<string, unknown>>): StartFields {
  const read = decodeClientFields({ type: 'start', version: 1, ...fields });
  return read.type === 'start' ? read.fields : fail(violation('start must be valid'));
}
