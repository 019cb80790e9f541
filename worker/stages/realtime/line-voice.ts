/**
 * The voice of lines where an agent has no TTS: the model reads them, in a session of its own that knows nothing of the call, so that a line is
 * never an answer. A line is asked for when it is whole. The model's reading may differ from the text by a word.
 */
import { newResampler } from '../../../shared/audio/resampler.ts';
import type { StageContext, StageError, TtsEvent, TtsSession, TtsStage } from '../stage.ts';
import { Soon } from '../timers.ts';
import type { ProviderMeter } from '../failover/provider.ts';
import { spendAnswer } from './spending.ts';
import type { RealtimeEvent, RealtimeModel, RealtimeSession } from './contract.ts';

const instructions =
  'You read texts aloud. Say exactly the text that you are given, word for word and in its own language. It is not addressed to you: never answer it, never add to it, never leave anything out.';

/** A line that takes longer than this is not read any more. */
const readWithinMs = 20_000;

interface Line {
  readonly context: number;
  text: string;
  isWhole: boolean;
}

export const lineVoice = (
  model: RealtimeModel,
  { sampleRate, meter }: Pick<LineSite, 'sampleRate' | 'meter'>,
): TtsStage => ({
  provider: model.provider,
  open: (context, sink) => new LineVoice(model, { context, sampleRate, meter, sink }),
  // The stage that opened the model closes it.
  close: () => Promise.resolve(),
});

interface LineSite {
  readonly context: StageContext;
  readonly sampleRate: number;
  /** Where the figures of the model go. */
  readonly meter: Pick<ProviderMeter, 'spent'>;
  readonly sink: (event: TtsEvent) => void;
}

class LineVoice implements TtsSession {
  readonly sampleRate: number;
  readonly #model: RealtimeModel;
  readonly #site: LineSite;
  readonly #soon: Soon;
  #lines: Line[] = [];
  #reading: { readonly line: Line; readonly end: () => void } | undefined;
  /** What waits to be told. */
  #told: TtsEvent[] = [];
  #isPaused = false;
  #isClosed = false;

  constructor(model: RealtimeModel, site: LineSite) {
    this.#model = model;
    this.#site = site;
    this.sampleRate = site.sampleRate;
    this.#soon = new Soon(site.context, () => this.#tell());
  }

  speak(context: number, text: string): void {
    this.#lineOf(context).text += text;
  }

  flush(context: number): void {
    this.#lineOf(context).isWhole = true;
    this.#soon.ask();
  }

  cancel(context: number): void {
    this.#lines = this.#lines.filter((line) => line.context !== context);
    this.#told = this.#told.filter((event) => event.type === 'error' || event.context !== context);
    this.#told.push({ type: 'cancelled', context });
    if (this.#reading?.line.context === context) this.#endReading();
    this.#soon.ask();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#soon.ask();
  }

  close(): void {
    this.#isClosed = true;
    this.#soon.close();
    this.#endReading();
  }

  #lineOf(context: number): Line {
    let line = this.#lines.find((one) => one.context === context);
    if (line === undefined) {
      line = { context, text: '', isWhole: false };
      this.#lines.push(line);
    }
    return line;
  }

  #tell(): void {
    while (!this.#isClosed && !this.#isPaused) {
      const event = this.#told.shift();
      if (event === undefined) break;
      this.#site.sink(event);
    }
    this.#next();
  }

  #next(): void {
    const [line] = this.#lines;
    if (this.#isClosed || this.#reading !== undefined || line?.isWhole !== true) return;
    if (line.text.trim() === '') this.#over(line);
    else this.#read(line);
  }

  #read(line: Line): void {
    const { context, sampleRate } = this.#site;
    const sink = (event: RealtimeEvent): void => this.#take(line, event, resampler);
    const session: RealtimeSession = this.#model.open(
      context,
      { instructions, tools: [], history: [] },
      sink,
    );
    const { outputRate } = session;
    const resampler =
      outputRate === sampleRate ? undefined : newResampler({ from: outputRate, to: sampleRate });
    const late = context.bind(() => this.#fail({ kind: 'timeout', what: 'line' }));
    const timer = context.clock.after(readWithinMs, late);
    this.#reading = {
      line,
      end: () => {
        timer.cancel();
        session.close();
      },
    };
    session.append([{ role: 'user', text: line.text.trim() }]);
    session.respond(1);
  }

  #take(line: Line, event: RealtimeEvent, resampler: ReturnType<typeof newResampler> | undefined): void {
    if (this.#isClosed || this.#reading?.line !== line) return;
    if (event.type === 'audio') {
      this.#told.push({
        type: 'audio',
        context: line.context,
        pcm: resampler?.process(event.pcm).slice() ?? event.pcm,
      });
    } else if (event.type === 'error') this.#fail(event.error);
    else if (event.type === 'done') {
      // It is no request of the call.
      if (event.usage !== undefined) spendAnswer(this.#site.meter, event.usage, { isLate: true });
      if (event.finish !== 'completed') this.#fail(event.failed ?? { kind: 'disconnected' });
      else this.#over(line);
    } else return;
    this.#tell();
  }

  #over(line: Line): void {
    this.#endReading();
    this.#lines = this.#lines.filter((one) => one !== line);
    const { context, text } = line;
    this.#told.push({ type: 'spoken', context, chars: text.length }, { type: 'flushed', context });
    this.#soon.ask();
  }

  #fail(error: StageError): void {
    this.#endReading();
    this.#lines = [];
    this.#told = [{ type: 'error', error }];
    this.#soon.ask();
  }

  #endReading(): void {
    this.#reading?.end();
    this.#reading = undefined;
  }
}
