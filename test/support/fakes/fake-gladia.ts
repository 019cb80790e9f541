/** The live recogniser behind `stt_cloud_c`, on a real socket: a request begins a session, silence ends an utterance. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { FakeRecogniser } from './fake-recogniser.ts';
import type { HeardConnection } from './fake-recogniser.ts';

export interface SessionRequest {
  readonly url: string;
  readonly key: string | undefined;
  readonly body: Record<string, unknown>;
}

export class FakeGladia extends FakeRecogniser {
  readonly requests: SessionRequest[] = [];
  /** Sent as the session's address instead of this server's own. */
  address: string | undefined;
  private endpointingMs = 50;

  protected override request(request: IncomingMessage, response: ServerResponse): void {
    if (this.refuseWith !== undefined) {
      this.attempts += 1;
      const advice = this.retryAfter === undefined ? {} : { 'Retry-After': this.retryAfter };
      response.writeHead(this.refuseWith, advice).end('{"message":"no"}');
      this.changed();
      return;
    }
    if (this.mute) {
      this.attempts += 1;
      this.changed();
      return;
    }
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const body = JSON.parse(text) as Record<string, unknown>;
      const key = request.headers['x-gladia-key'];
      this.requests.push({ url: request.url ?? '', key: typeof key === 'string' ? key : undefined, body });
      this.endpointingMs = Number(body['endpointing'] ?? 0.05) * 1000;
      const url = this.address ?? `ws://${this.host}/v2/live?token=once`;
      const answer = JSON.stringify({ id: 'session', created_at: '2026-01-01T00:00:00Z', url });
      response.writeHead(201, { 'Content-Type': 'application/json' }).end(answer);
    });
  }

  protected override greet(): void {
    // Lifecycle events were not asked for.
  }

  protected override hear(connection: HeardConnection, pcm: Buffer): void {
    if (pcm.some((byte) => byte !== 0)) super.hear(connection, pcm);
    else {
      connection.audioMs += pcm.length / 32;
      if (pcm.length / 32 >= this.endpointingMs) this.finish(connection, true);
    }
  }

  protected override onText(connection: HeardConnection, { type }: Record<string, unknown>): void {
    if (type !== 'stop_recording') return;
    connection.reply({ type, acknowledged: true, error: null, data: { recording_duration: 1 } });
    connection.socket.close(1000);
  }

  protected override sayPartial(connection: HeardConnection): void {
    this.transcript(connection, false);
  }

  protected override sayFinal(connection: HeardConnection): void {
    this.transcript(connection, true);
  }

  private transcript(connection: HeardConnection, isFinal: boolean): void {
    const { said, utterance } = connection;
    const message = {
      type: 'transcript',
      session_id: 'session',
      created_at: '2026-01-01T00:00:00Z',
      data: {
        id: `00_0000000${utterance}`,
        is_final: isFinal,
        utterance: {
          text: ` ${said}`,
          language: 'en',
          start: 0,
          end: connection.spokenToMs / 1000,
          confidence: 1,
          channel: 0,
          words: [],
        },
      },
    };
    connection.socket.send(JSON.stringify(message));
  }
}
