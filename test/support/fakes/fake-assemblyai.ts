/** The streaming recogniser behind `stt_cloud_b`, on a real socket: it takes the key only after the upgrade. */
import { FakeRecogniser, spokenIn, textOf } from './fake-recogniser.ts';
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
    const { utterance } = connection;
    const words = spokenIn(connection.said);
    const said = textOf(connection.said);
    const isDiarized = connection.url.searchParams.get('speaker_labels') === 'true';
    const speaker_label = words.at(-1)?.speaker;
    // The last word of a turn that goes on is not sure yet, and stands among the words alone.
    const isSure = (at: number): boolean => end || at < words.length - 1;
    const sure = words
      .filter((_, at) => isSure(at))
      .map(({ text }) => text)
      .join(' ');
    connection.reply({
      type: 'Turn',
      turn_order: utterance,
      turn_is_formatted: formatted,
      end_of_turn: end,
      transcript: formatted ? `${sure}.` : sure,
      end_of_turn_confidence: end ? 0.9 : 0.1,
      utterance: end ? said : '',
      ...(isDiarized && speaker_label !== undefined && { speaker_label }),
      words: words.map(({ text, speaker }, at) => ({
        text,
        start: 0,
        end: Math.round(connection.spokenToMs),
        confidence: 1,
        word_is_final: isSure(at),
        ...(isDiarized && isSure(at) && speaker !== undefined && { speaker }),
      })),
    });
  }
}
