/** Servers of the realtime transcription interface in its four ways, on a real socket. */
import { FakeRecogniser } from './fake-recogniser.ts';
import type { HeardConnection } from './fake-recogniser.ts';

export type RealtimeWay = 'openai' | 'nim' | 'vllm' | 'speaches';

export class FakeSttRealtime extends FakeRecogniser {
  private readonly way: RealtimeWay;
  /** Says this error instead of taking the configuration. */
  refuseConfiguration: Record<string, unknown> | undefined;
  private isGenerating = false;

  constructor(way: RealtimeWay, options: { readonly sampleRate: number; readonly tls?: boolean }) {
    super(options);
    this.way = way;
  }

  protected override greet(connection: HeardConnection): void {
    if (this.way === 'nim') connection.reply({ type: 'conversation.created', conversation: { id: 'c' } });
    else if (this.way === 'vllm') connection.reply({ type: 'session.created', id: 's', created: 1 });
    else connection.reply({ type: 'session.created', event_id: 'e', session: { id: 's' } });
  }

  protected override onText(connection: HeardConnection, message: Record<string, unknown>): void {
    switch (message['type']) {
      case 'session.update':
      case 'transcription_session.update':
        if (this.refuseConfiguration !== undefined) {
          connection.reply({ type: 'error', event_id: 'e', error: this.refuseConfiguration });
        } else if (this.way !== 'vllm') {
          const type = this.way === 'nim' ? 'transcription_session.updated' : 'session.updated';
          connection.reply({ type, event_id: 'e', session: message['session'] });
        }
        return;
      case 'input_audio_buffer.append':
        this.append(connection, message);
        return;
      case 'input_audio_buffer.commit':
        this.commit(connection, message);
    }
  }

  protected override sayPartial(connection: HeardConnection): void {
    if (this.way === 'speaches') return;
    // One way says the whole each time, the others what is new.
    const delta = this.way === 'nim' ? connection.said : connection.said.slice(connection.told.length);
    if (this.way === 'vllm') connection.reply({ type: 'transcription.delta', delta });
    else connection.reply({ ...this.item(connection, 'delta'), delta });
  }

  protected override sayFinal(connection: HeardConnection): void {
    const { said } = connection;
    if (this.way === 'vllm') {
      connection.reply({ type: 'transcription.done', text: said, usage: { total_tokens: 1 } });
      this.isGenerating = false;
      return;
    }
    const item_id = `item_${connection.utterance}`;
    if (this.way !== 'nim') {
      connection.reply({
        type: 'input_audio_buffer.committed',
        event_id: 'e',
        item_id,
        previous_item_id: null,
      });
    }
    connection.reply({
      ...this.item(connection, 'completed'),
      transcript: said,
      usage: { type: 'duration', seconds: 1 },
    });
  }

  private item(connection: HeardConnection, step: string): Record<string, unknown> {
    const type = `conversation.item.input_audio_transcription.${step}`;
    return { type, event_id: 'e', item_id: `item_${connection.utterance}`, content_index: 0 };
  }

  private append(connection: HeardConnection, message: Record<string, unknown>): void {
    const pcm = Buffer.from(String(message['audio']), 'base64');
    if (this.way === 'vllm' && !this.isGenerating) throw new Error('audio without a generation is lost');
    const runtime = message['runtime_config'];
    if (runtime !== undefined) this.finish(connection, true);
    else this.hear(connection, pcm);
  }

  private commit(connection: HeardConnection, message: Record<string, unknown>): void {
    if (this.way === 'nim') return;
    if (this.way === 'vllm') {
      if (message['final'] === true) this.finish(connection, true);
      else this.isGenerating = true;
      return;
    }
    if (connection.heardMs < 100) {
      const error = {
        type: 'invalid_request_error',
        code: 'input_audio_buffer_commit_empty',
        message: 'small',
      };
      connection.reply({ type: 'error', event_id: 'e', error });
    } else this.finish(connection, true);
  }
}
