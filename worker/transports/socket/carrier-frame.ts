/** Frames of carriers: JSON objects with objects in them, of which any may be something else. */
const parts = ['start', 'media', 'dtmf', 'mark', 'payload'];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** In place, because there are 50 of them a second in each call. */
function leaveOutBroken(message: Record<string, unknown>, names: readonly string[]): void {
  for (const name of names)
    if (message[name] !== undefined && !isObject(message[name])) message[name] = undefined;
}

/**
 * The message in a frame, undefined where it is none. Of what ought to be objects those are there that are, so that a field can be asked for;
 * what they hold is checked where it is read. `format` names the format of the audio in `start`.
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
