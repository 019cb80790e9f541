/** The live recogniser behind `stt_cloud_a`, on a real socket. */
import { FakeRecogniser, spokenIn, textOf } from './fake-recogniser.ts';
import type { HeardConnection } from './fake-recogniser.ts';

export class FakeDeepgram extends FakeRecogniser {
  /** The server's own endpoint comes just before the answer to a finalize, which then holds no text. */
  endsBeforeFinalize = false;

  /** The text so far is final, but the utterance goes on. */
  segment(connection = this.last): void {
    this.result(connection, { text: connection.said, is_final: true });
    connection.words = connection.words?.slice(connection.said.split(' ').length) ?? [];
    connection.said = '';
    connection.heardMs = 0;
  }

  protected override greet(): void {
    // The server says nothing until there is audio.
  }

  protected override onText(connection: HeardConnection, { type }: Record<string, unknown>): void {
    if (type === 'Finalize') this.finish(connection, true);
    if (type !== 'CloseStream') return;
    connection.reply({
      type: 'Metadata',
      request_id: 'r',
      sha256: '',
      created: '',
      duration: 1,
      channels: 1,
    });
    connection.socket.close(1000);
  }

  protected override sayPartial(connection: HeardConnection): void {
    this.result(connection, { text: connection.said });
  }

  protected override sayFinal(connection: HeardConnection, asked: boolean): void {
    const text = connection.said;
    if (!asked) this.result(connection, { text, is_final: true, speech_final: true });
    else if (this.endsBeforeFinalize) {
      this.result(connection, { text, is_final: true, speech_final: true });
      this.result(connection, { text: '', is_final: true, from_finalize: true });
    } else this.result(connection, { text, is_final: true, from_finalize: true });
  }

  private result(
    connection: HeardConnection,
    { text: said, ...flags }: { text: string; is_final?: true; speech_final?: true; from_finalize?: true },
  ): void {
    const isDiarized = connection.url.searchParams.get('diarize') === 'true';
    const words = spokenIn(said).map(({ text, speaker }) => ({
      word: text.toLowerCase(),
      punctuated_word: text,
      start: 0,
      end: 1,
      confidence: 1,
      ...(isDiarized && speaker !== undefined && { speaker: Number(speaker) }),
    }));
    connection.reply({
      type: 'Results',
      channel_index: [0, 1],
      start: (connection.audioMs - connection.heardMs) / 1000,
      duration: connection.heardMs / 1000,
      is_final: false,
      speech_final: false,
      from_finalize: false,
      ...flags,
      channel: { alternatives: [{ transcript: textOf(said), confidence: 1, words }] },
      metadata: { request_id: 'r', model_uuid: 'm', model_info: { name: 'n', version: 'v', arch: 'a' } },
    });
  }
}
