/** The whole body of a small request, or undefined once it is longer than it may be. */
import type { IncomingMessage } from 'node:http';

export function readBody(
  request: IncomingMessage,
  most: number,
  read: (body: Buffer | undefined) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= most) chunks.push(chunk);
  });
  request.on('end', () => read(bytes > most ? undefined : Buffer.concat(chunks)));
}
