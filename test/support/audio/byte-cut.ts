/** Ends a server's connections after a number of bytes sent, whatever they were: a network that dies at any moment. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface ByteCut {
  /** Bytes that the server may still send over all of its connections; absent means any number. */
  left: number | undefined;
  /** Bytes that it sent so far. */
  sent: number;
}

/** Also takes a server that speaks TLS, whose bytes are then counted as they are encrypted. */
export function cutBytes(server: Pick<Server, 'on'>): ByteCut {
  const cut: ByteCut = { left: undefined, sent: 0 };
  server.on('connection', (socket: Socket) => {
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    socket.write = (chunk: string | Buffer, ...rest: unknown[]) => {
      const encoding = typeof rest[0] === 'string' ? (rest[0] as BufferEncoding) : 'utf8';
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
      const taken = cut.left === undefined ? bytes.length : Math.min(cut.left, bytes.length);
      cut.sent += taken;
      if (cut.left !== undefined) cut.left -= taken;
      if (taken === bytes.length) return write(chunk, ...rest);
      write(bytes.subarray(0, taken), () => socket.destroy());
      return false;
    };
  });
  return cut;
}
