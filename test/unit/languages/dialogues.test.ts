/** The same conversations in every language that the engine knows, with an agent that says no more than its language. */
import { describe, expect, it } from 'vitest';
import type { AgentDefinition } from '../../../shared/config/agent-file.ts';
import { loadAgentFile } from '../../../shared/config/load.ts';
import { languages } from '../../../shared/languages/languages.ts';
import { spokenWords } from '../../../shared/languages/spelling.ts';
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import { addText, newSplitter } from '../../../worker/core/answer/sentences.ts';
import { listeningOf, withoutListening } from '../../../worker/core/turn/backchannels.ts';
import type { CallSettings } from '../../../worker/core/settings.ts';
import { callSettings } from '../../../worker/host/definition.ts';
import { readConfirmation } from '../../../worker/tools/confirmation.ts';
import { Script } from '../../support/core/script.ts';
import { effectTool, newToolBook } from '../../support/core/tool-book.ts';
import { dialogues, type Said } from './dialogues.ts';
import { overSpeech } from './nods/index.ts';

function definitionIn(language: string): AgentDefinition {
  const file = `
[agent]
name = "desk"
prompt = "Answer."
language = "${language}"
[stt]
provider = "stt_local_ws"
[llm]
provider = "chat_compatible"
chat_compatible = { base_url = "http://127.0.0.1:1/v1", model = "none" }
[tts]
provider = "speech_compatible"
speech_compatible = { base_url = "http://127.0.0.1:1/v1", model = "none" }
`;
  const none = (): undefined => undefined;
  const loaded = loadAgentFile(file, { env: {}, requireSecrets: false, readFile: none, readBytes: none });
  expect(loaded.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return loaded.definition as AgentDefinition;
}

function settingsIn(language: string): CallSettings {
  const definition = definitionIn(language);
  const { agent } = definition;
  const book = newToolBook({ tools: { pay: { ...effectTool, confirm: true } } });
  const { answers } = vocabularyOf(agent.languages);
  const settings = callSettings(definition, { turnModel: false, replayMs: 0 });
  return {
    ...settings,
    turn: { ...settings.turn, askEarlyMs: Infinity, speculate: false },
    tools: { ...book, answerOf: (text) => readConfirmation(text, agent.confirm, answers) },
  };
}

const story =
  'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore.';

describe.each(languages.map((language) => [language.code, language] as const))('in %s', (code, { lines }) => {
  const said = dialogues[code] as Said;
  const settings = settingsIn(code);
  const { listening } = listeningOf(settings.interrupt.backchannels, vocabularyOf([code]));
  const begin = (more: Partial<CallSettings> = {}): Script =>
    new Script({ settings: { ...settings, ...more } });
  /** The agent has said so, and what the caller answers first. */
  const answering = (asked: string, text: string): Script => {
    const call = begin({ greeting: asked }).opens().botFinishes();
    return call.callerBegins().callerInsists().sttHears(text).callerStops();
  };
  const silenceMs = (text: string, asked = lines.idleQuestion): number => answering(asked, text).silenceMs();
  const { silenceEndMs } = settings.turn;
  /** The agent speaks, and the caller says so into it. */
  const speaking = (answer = story): Script =>
    begin({ greeting: '' })
      .opens()
      .callerSays(said.whole[0] ?? '')
      .llmAnswers(answer)
      .botPlays(1_000)
      .skips();

  it.each(said.yes)('%j lets a tool run', (text) => {
    const call = begin()
      .opens()
      .callerSays('Xyz.')
      .llmWrites('. ')
      .llmCalls('pay')
      .botSays(`. ${lines.confirmQuestion}`);
    call.botFinishes().callerSays(text).running('pay');
  });

  it.each([
    ...said.no.map((text) => [text, 'declined']),
    ...said.unclear.map((text) => [text, 'not_confirmed']),
  ])('%j lets none run: %s', (text, code) => {
    const call = begin()
      .opens()
      .callerSays('Xyz.')
      .llmWrites('. ')
      .llmCalls('pay')
      .botFinishes()
      .callerSays(text);
    call.running();
    expect(JSON.stringify(call.request)).toContain(code);
  });

  it.each(said.listens)('%j does not interrupt', (text) => {
    const call = speaking().callerBegins().sttGuesses(text).callerInsists().sttHears(text).callerStops();
    call.sttFinalizes().without('playout.clear').botFinishes().rounds(1);
  });

  const overStory = (text: string, answer = story): Script => {
    const call = speaking(answer).callerBegins();
    text.split(' ').forEach((_, at, words) => call.sttGuesses(words.slice(0, at + 1).join(' ')));
    return call.callerInsists().sttHears(text).callerStops().sttFinalizes();
  };
  /** Some that are in no list, and said word by word. */
  const nods = (overSpeech[code]?.nods ?? []).filter((_, at) => at < 6 && at % 2 === 0);

  it.each(nods)('the nod %j does not interrupt, and is not answered', (text) => {
    overStory(text).without('playout.clear').botFinishes().rounds(1);
    overStory(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`).without('playout.clear');
  });

  it.each(nods)('%j answers a question of the agent', (text) => {
    if (withoutListening(spokenWords(text), listening).length === 0) return;
    expect(() => overStory(text, story.replace('.', '?')).without('playout.clear')).toThrow('playout.clear');
  });

  it.each(said.stops)('%j interrupts', (text) => {
    const call = speaking().callerBegins().callerInsists().sttHears(text);
    call.callerStops().sttFinalizes();
    expect(() => call.without('playout.clear')).toThrow('playout.clear');
  });

  it.each(said.begun)('behind %j more is waited for', (text) => {
    expect(silenceMs(text)).toBeGreaterThan(silenceEndMs * 1.25);
    // STT may begin with a capital letter what it takes for a sentence.
    const begun = text.charAt(0).toUpperCase() + text.slice(1);
    if (begun.toLowerCase() === text) expect(silenceMs(begun)).toBeGreaterThan(silenceEndMs * 1.25);
  });

  /** The silence behind a final text that STT takes for all there is. */
  const finalMs = (text: string): number => {
    const call = begin({ greeting: lines.idleQuestion }).opens().botFinishes().callerBegins().callerInsists();
    return call.sttHears(text, { speechFinal: true }).callerStops().silenceMs();
  };

  it.each(said.alone)('behind %j alone more is waited for, whatever mark STT puts', (text) => {
    const capital = text.charAt(0).toUpperCase() + text.slice(1);
    const isCased = capital.toLowerCase() === text.toLowerCase();
    for (const form of [text, isCased ? capital : text].flatMap((words) => [
      words,
      `${words}.`,
      `${words}...`,
    ]))
      expect([form, finalMs(form) > silenceEndMs * 1.25]).toEqual([form, true]);
  });

  it.each(said.answers)('%j is an answer', (text) => {
    expect(finalMs(text)).toBeLessThan(silenceEndMs);
  });

  it.each(said.thinking)('%j asks for time, also where STT calls it a sentence', (text) => {
    expect(finalMs(text)).toBeGreaterThan(silenceEndMs * 2);
  });

  it.each(said.notThinking)('%j asks for no time', (text) => {
    expect(silenceMs(text)).toBeLessThanOrEqual(silenceEndMs * 1.05);
  });

  it('behind a correction more is waited for', () => {
    expect(silenceMs(said.correction)).toBeGreaterThanOrEqual(900);
  });

  it('a name that is to be spelled is not over when it was said', () => {
    expect(silenceMs(said.spelling.said, said.spelling.asked)).toBeGreaterThanOrEqual(1_200);
  });

  it.each(said.whole)('behind %j nothing is waited for', (text) => {
    expect(silenceMs(text)).toBeLessThanOrEqual(silenceEndMs * 1.05);
  });

  it.each(said.digits)(
    'a number that was asked for is waited for to its end: $asked',
    ({ asked, part, all }) => {
      expect(silenceMs(part, asked)).toBeGreaterThanOrEqual(2_000);
      expect(silenceMs(all, asked)).toBeLessThanOrEqual(500);
    },
  );

  it.each(said.open)('a number of unknown length is waited for: $asked', ({ asked, said: text }) => {
    expect(silenceMs(text, asked)).toBeGreaterThanOrEqual(1_200);
    expect(silenceMs(text)).toBeLessThan(2_000);
  });

  it('an address for mail is waited for to its end', () => {
    expect(silenceMs(said.mail.said, said.mail.asked)).toBeGreaterThanOrEqual(2_000);
  });

  const leaving = (): Script => {
    const call = speaking()
      .botFinishes()
      .callerSays(said.whole[1] ?? '')
      .llmWrites(lines.farewell)
      .llmCalls('end_call');
    return call.botSays(lines.farewell).botPlays(200).skips();
  };

  it.each(said.goodbyes)('%j into the farewell is its return', (text) => {
    const call = leaving()
      .callerBegins()
      .sttGuesses(text)
      .sttHears(text)
      .skips()
      .callerStops()
      .sttFinalizes();
    // Words that the agent has just said may be its echo.
    call
      .later(settings.interrupt.resumeAfterMs)
      .without('playout.clear')
      .botFinishes()
      .rounds(2)
      .ends('ended');
  });

  it.each(said.more)('%j into the farewell is answered', (text) => {
    const call = leaving().callerBegins().callerInsists().sttHears(text).callerStops().silenceEndsTheTurn();
    call.sttFinalizes().rounds(3).ends(undefined);
  });

  it('who was not understood is asked to say it again', () => {
    const call = begin()
      .opens()
      .callerBegins()
      .later(1_000)
      .callerStops()
      .silenceEndsTheTurn()
      .sttFinalizes();
    call.botSays(lines.misheard);
  });

  it.each(said.pieces)('%j is one piece', (piece) => {
    const splitter = newSplitter();
    const { sentences } = vocabularyOf([code]);
    const pieces = `${piece}${piece}`.split(/(?<=\s)/).flatMap((word) => addText(splitter, word, sentences));
    expect(pieces[0]).toBe(piece);
  });
});
