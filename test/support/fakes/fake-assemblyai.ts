/** The streaming recogniser behind `stt_cloud_b`, on a real socket: it takes the key only after the upgrade. */
import { FakeRecogniser } from './fake-recogniser.ts';
import type { HeardConnection } from './fake-recogniser.ts';

export class FakeAssemblyAi extends FakeRecogniser {
  /** Says this instead of beginning a session, and closes with the code. */
  refusal1008: { readonly code: number; readonly error: string } | undefined;

  protected override greet(connection: HeardConnection): void {
    if (this.refusal1008 !== undefined) {
      const { code, error } = this.refusal1008;
      connection.reply({ type: 'Error', error_code: code, error });
      connection.socket.close(code, error);
      return;
    }
    const configuration = { model: connection.url.searchParams.get('speech_model'), api_version: '1.0.0' };
    connection.reply({ type: 'Begin', id: 'session', expires_at: 1_793_000_000, configuration });
  }

  protected override hear(connection: HeardConnection, pcm: Buffer): void {
    const ms = pcm.length / 32;
    if (ms < 50 || ms > 1000) {
      const error = 'Input duration violation';
      connection.reply({ type: 'Error', error_code: 3007, error });
      connection.socket.close(3007, error);
      return;
    }
    super.hear(connection, pcm);
  }

  protected override onText(connection: HeardConnection, { type }: Record<string, unknown>): void {
    if (type === 'ForceEndpoint') this.finish(connection, true);
    if (type !== 'Terminate') return;
    connection.reply({ type: 'Termination', audio_duration_seconds: 1, session_duration_seconds: 1 });
    connection.socket.close(1000);
  }

  protected override sayPartial(connection: HeardConnection): void {
    this.turn(connection, {});
  }

  protected override sayFinal(connection: HeardConnection): void {
    this.turn(connection, { end: true });
    if (connection.url.searchParams.get('format_turns') === 'true') {
      this.turn(connection, { end: true, formatted: true });
    }
  }

  private turn(
    connection: HeardConnection,
    { end = false, formatted = false }: { end?: boolean; formatted?: boolean },
  ): void {
    const { said, utterance } = connection;
    const words = said === '' ? [] : said.split(' ');
    // The last word of a turn that goes on is not sure yet, and stands among the words alone.
    const sure = end ? said : words.slice(0, -1).join(' ');
    connection.reply({
      type: 'Turn',
      turn_order: utterance,
      turn_is_formatted: formatted,
      end_of_turn: end,
      transcript: formatted ? `${sure}.` : sure,
      end_of_turn_confidence: end ? 0.9 : 0.1,
      utterance: end ? said : '',
      words: words.map((text) => ({
        text,
        start: 0,
        end: Math.round(connection.spokenToMs),
        confidence: 1,
        word_is_final: true,
      })),
    });
  }
}
