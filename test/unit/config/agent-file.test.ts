import { noRouting } from '../../../shared/agents/routing.ts';
import { inspect } from 'node:util';
import { describe, it, expect } from 'vitest';
import { backchannelsOf, builtInTexts } from '../../../shared/config/agent/texts.ts';
import { changed, errorsOf, goodFile, load } from './agent-text.ts';

const english = builtInTexts('en');
const plainInterrupt = {
  enabled: true,
  minSpeechMs: 300,
  sureSpeechMs: 150,
  minWords: 1,
  wordlessMs: 1000,
  backchannels: backchannelsOf('en'),
  resumeAfterMs: 600,
  dtmf: true,
  greeting: true,
};
const plainTelephony = {
  settleTimeoutMs: 8000,
  returnLine: 'Sorry, nobody could take your call. How else can I help?',
  warmTransfer: false,
  destinations: new Map(),
  dtmf: {
    collect: true,
    terminator: '#',
    maxDigits: 20,
    interDigitMs: 3000,
    loneTerminator: true,
    note: english.keysNote,
  },
};
const withAgentLine = (line: string): string => changed(['name = "desk"', `name = "desk"\n${line}`]);
const withSection = (text: string): string => `${goodFile}\n${text}`;

const defaultOutage = {
  keepS: 60,
  hold: 'I am still having trouble. Please stay on the line.',
  back: 'Thank you for waiting.',
  unheardNote: '[The caller has not heard your answer. Give it now.]',
};

const englishLines = {
  farewell: 'Goodbye.',
  announcement: { text: 'Sorry, something went wrong. Please wait, or call again later.' },
  apology: 'Sorry, something went wrong on my side. Could you say that again?',
  misheard: 'Sorry, I did not catch that. Could you say it again?',
  fillers: ['One moment.', 'Let me check.', 'Just a second.', 'Bear with me.'],
  lateLines: ['One moment.', 'Let me check.', 'Just a second.', 'Bear with me.'],
};

const operatorLost = 'Sorry, my colleague is gone. I am with you again. How can I help?';

describe('a good agent file', () => {
  it('gives a definition in camelCase with every default', () => {
    const { definition, problems } = load(goodFile);
    expect(problems).toEqual([]);
    expect(definition).toEqual({
      agent: {
        name: 'desk',
        prompt: 'Be brief.',
        language: 'en',
        languages: ['en'],
        timezone: 'UTC',
        greeting: '',
        ...englishLines,
        maxCallS: 3600,
        outage: defaultOutage,
        pronounce: {},
        confirm: { ask: english.confirmQuestion, yes: english.yes, no: english.no },
      },
      turn: {
        vadThreshold: 0.5,
        minSpeechMs: 120,
        silences: {
          withModel: { stopMs: 300, silenceEndMs: 1500, maxSilenceMs: 2000 },
          withoutModel: { stopMs: 200, silenceEndMs: 700, maxSilenceMs: 2500 },
        },
        smartTurn: 'auto',
        smartTurnThreshold: 0.5,
        speculate: true,
        echo: 'auto',
        interrupt: plainInterrupt,
        idle: { askAfterS: 12, ask: 'Are you still there?', endAfter: 2 },
      },
      stt: {
        provider: 'stt_local_ws',
        language: 'en',
        options: {
          baseUrl: 'ws://127.0.0.1:6006',
          path: '/',
          sampleRate: 16_000,
          finalizeTimeoutMs: 1500,
          finalizePaddingMs: 300,
        },
      },
      llm: {
        provider: 'chat_compatible',
        maxToolRounds: 6,
        contextWindowTokens: 4000,
        options: { baseUrl: 'http://127.0.0.1:11434/v1', model: 'small' },
      },
      tts: {
        provider: 'speech_compatible',
        voice: 'af_heart',
        sampleRate: 24_000,
        language: 'en',
        options: {
          baseUrl: 'http://127.0.0.1:8880/v1',
          preset: 'local_b',
          model: 'kokoro',
          format: 'pcm',
          warmText: '',
          firstAudioTimeoutMs: 15_000,
          warmIntervalMs: 60_000,
        },
      },
      tools: [],
      mcp: [],
      monitor: { notice: '', lost: operatorLost },
      telephony: plainTelephony,
      routing: noRouting,
    });
  });

  it('speaks the language of the agent wherever the file gives no text', () => {
    const { definition } = load(changed(['name = "desk"', 'name = "desk"\nlanguage = "tr-TR"']));
    const turkish = builtInTexts('tr');
    expect(definition?.agent).toMatchObject({ farewell: turkish.farewell, fillers: turkish.fillers });
    expect(definition?.turn.idle.ask).toBe(turkish.idleQuestion);
    expect(definition?.telephony.dtmf.note).toBe(turkish.keysNote);
  });

  it('speaks any other language by its own texts', () => {
    const text = `${changed(['name = "desk"', 'name = "desk"\nlanguage = "sv"\nfarewell = "Dag."\napology = "Wie bitte?"\nfillers = []'])}
[agent.confirm]
ask = "Soll ich das tun?"
yes = ["ja"]
no = ["nein"]
[telephony.dtmf]
note = "[Tasten: {digits}]"
`;
    const { definition } = load(text);
    expect(definition?.agent).toMatchObject({
      farewell: 'Dag.',
      misheard: 'Wie bitte?',
      fillers: [],
      lateLines: ['Wie bitte?'],
      confirm: { ask: 'Soll ich das tun?', yes: ['ja'], no: ['nein'] },
    });
    expect(definition?.telephony.dtmf.note).toBe('[Tasten: {digits}]');
  });

  it('lets a stage speak another language than the agent', () => {
    const text = changed(
      ['name = "desk"', 'name = "desk"\nlanguage = "tr-TR"'],
      ['voice =', 'language = "en"\nvoice ='],
    );
    const { definition } = load(text);
    expect([definition?.agent.language, definition?.stt?.language, definition?.tts?.language]).toEqual([
      'tr-TR',
      'tr-TR',
      'en',
    ]);
  });

  it('takes "multi" for an STT that hears several languages, and the words of all of them', () => {
    const loaded = (provider: string): ReturnType<typeof load> =>
      load(
        changed(
          ['"stt_local_ws"', `"${provider}"\napi_key_env = "KEY"\nlanguage = "multi"`],
          ['[stt.stt_local_ws]', `[stt.${provider}]`],
        ).replace('base_url = "ws://127.0.0.1:6006"', ''),
      );
    const { definition } = loaded('deepgram');
    expect(definition?.stt?.language).toBe('multi');
    expect(definition?.turn.interrupt.backchannels).toEqual(
      expect.arrayContaining(['got it', 'genau', 'vale']),
    );
    expect(definition?.agent.confirm.yes).toEqual(expect.arrayContaining(['yes', 'ja', 'sí']));
    expect(definition?.agent.confirm.no).toEqual(expect.arrayContaining(['no', 'nein', 'hayır']));
    expect(loaded('assemblyai').problems.map(({ path }) => path)).toContain('stt.language');
  });

  it('keeps the words of agent.pronounce as they are written', () => {
    const { definition } = load(
      withSection('[agent.pronounce]\n"order_id" = "order number"\nSQL = "sequel"'),
    );
    expect(definition?.agent.pronounce).toEqual({ order_id: 'order number', SQL: 'sequel' });
  });

  it('accepts a whole number where a fraction may stand', () => {
    const text = changed(['model = "small"', 'model = "small"\ntemperature = 1']);
    expect(load(text).definition?.llm?.options).toMatchObject({ temperature: 1 });
  });

  it('takes half of the speech that interrupts for what is surely speech, and never more', () => {
    const interrupt = (lines: string) => load(withSection(`[turn.interrupt]\n${lines}`));
    const sure = (lines: string) => interrupt(lines).definition?.turn.interrupt.sureSpeechMs;
    expect([sure('min_speech_ms = 500'), sure('min_speech_ms = 0')]).toEqual([250, 0]);
    expect(sure('min_speech_ms = 500\nsure_speech_ms = 500')).toBe(500);
    const problems = interrupt('sure_speech_ms = 301').problems.map(({ message }) => message);
    expect(problems).toEqual(['turn.interrupt.sure_speech_ms must be at most turn.interrupt.min_speech_ms']);
  });

  it('reads a file with Windows line ends and a byte order mark, comments and long texts included', () => {
    const text = `# An agent\n${changed(['"Be brief."', '"""Be brief.\nBe kind.""" # both'])}`;
    const { definition, problems } = load(`\uFEFF${text.replaceAll('\n', '\r\n')}`);
    expect(problems).toEqual([]);
    expect(definition?.agent.prompt).toBe('Be brief.\nBe kind.');
  });

  it('reads what the parser of values takes, even where the parser of positions is stricter', () => {
    const text = `${goodFile}[agent_link.deep]\nx = 1\n[agent_link]\ndeep.y = 2\n`;
    expect(errorsOf(text)).toEqual([expect.stringMatching(/^agent_link\.deep is not a known key/)]);
  });
});

describe('problems', () => {
  it('come all at once, in the order of the file, with line and column', () => {
    const text = `[agent]
nmae = "desk"
prompt = 3
max_call_s = 0

[turn.interrupt]
  enabld = true

[stt]
provider = "stt_local_ws"
[llm]
provider = "chat_compatible"
[tts]
provider = "nobody"
`;
    const { definition, problems } = load(text);
    expect(definition).toBeUndefined();
    expect(
      problems.map(({ severity, path, line, column, message }) => [severity, path, line, column, message]),
    ).toEqual([
      ['error', 'agent.name', 1, 1, 'agent.name is required'],
      ['error', 'agent.nmae', 2, 1, 'agent.nmae is not a known key; did you mean "name"?'],
      ['error', 'agent.prompt', 3, 10, 'agent.prompt must be a text in quotes'],
      ['error', 'agent.max_call_s', 4, 14, 'agent.max_call_s must be at least 1'],
      [
        'error',
        'turn.interrupt.enabld',
        7,
        3,
        'turn.interrupt.enabld is not a known key; did you mean "enabled"?',
      ],
      ['error', 'llm.chat_compatible', 11, 1, 'llm.chat_compatible is a required table for this provider'],
      [
        'error',
        'tts.provider',
        14,
        12,
        'tts.provider must be one of openai_speech (speech_compatible), cartesia (tts_cloud_a), elevenlabs (tts_cloud_b), deepgram_aura (tts_cloud_c)',
      ],
    ]);
  });

  it('point into arrays, inline tables and dotted keys', () => {
    const { problems } = load(
      changed(
        ['name = "desk"', 'name = "desk"\ntools = ["end_call",\n  "fly"]'],
        [
          '[stt.stt_local_ws]\nbase_url = "ws://127.0.0.1:6006"',
          'stt_local_ws = { base_url = "ws://127.0.0.1:6006", sample_rate = "high" }',
        ],
      ),
    );
    expect(problems.map(({ path, line, column }) => [path, line, column])).toEqual([
      ['agent.tools[1]', 4, 3],
      ['stt.stt_local_ws.sample_rate', 9, 66],
    ]);
  });

  it('name every missing section of an empty file', () => {
    expect(errorsOf('')).toEqual(
      ['agent', 'stt', 'llm', 'tts'].map((name) => `${name} is a required section`),
    );
  });

  it.each([
    ['agent = 3', 'agent must be a table'],
    ['[[agent]]\nname = "x"', 'agent must be a table'],
    ['[agnet]', 'agnet is not a known key; did you mean "agent"?'],
  ])('refuse %j as the form of a section', (text, message) => {
    expect(errorsOf(text)).toContain(message);
  });

  it('never repeat a value, wherever it stands', () => {
    const secret = 'canary-7f3a';
    const text = changed(
      ['"desk"', `"${secret} x"`],
      ['"ws://127.0.0.1:6006"', `"ws://${secret}.example/${secret}"`],
      ['"http://127.0.0.1:11434/v1"', `"http://u:${secret}@${secret}.example/v1?k=${secret}"`],
      ['model = "small"', `model = "small"\nreasoning_effort = ["${secret}"]`],
      ['voice = "af_heart"', `voice = ["${secret}"]\napi_key_env = "${secret}"\napi_key = "${secret}"`],
      ['"local_b"', `"${secret}"`],
    );
    const shown = inspect(load(`${text}\nbroken ${secret}\n`).problems, { depth: 9 });
    expect(shown).toContain('api_key_env');
    expect(shown).not.toContain(secret);
  });

  it('stay bounded in number and in length for a hostile file', () => {
    const lines = Array.from({ length: 2000 }, (_, index) => `"${'k'.repeat(300)}${index}" = 1`).join('\n');
    const { problems } = load(`${lines}\n${goodFile}`);
    expect(problems).toHaveLength(200);
    expect(Math.max(...problems.map(({ message }) => message.length))).toBeLessThan(300);
  });
});

describe('TOML mistakes', () => {
  it('are all reported, together with what the rest of the file has wrong', () => {
    const text = changed(
      ['name = "desk"', 'name = desk\ngreeting "Hi"'],
      ['model = "small"', 'modle = "small"'],
    );
    const { problems } = load(text);
    expect(problems.map(({ line, message }) => [line, message])).toEqual([
      [2, 'not valid TOML: Unexpected character; a value is a text in quotes, a number, true or false'],
      [3, 'not valid TOML: Expected equal (=) token'],
      [15, 'llm.chat_compatible.modle is not a known key; did you mean "model"?'],
    ]);
  });

  it('have the same places with Windows line ends', () => {
    const text = `# An agent\n${changed(['name = "desk"', 'name = desk'], ['model = "small"', 'modle = "small"'])}`;
    const placesOf = (file: string) => load(file).problems.map(({ line, column }) => [line, column]);
    expect(placesOf(text)).toEqual([
      [3, 8],
      [15, 1],
    ]);
    expect(placesOf(`\uFEFF${text.replaceAll('\n', '\r\n')}`)).toEqual(placesOf(text));
  });

  it('do not turn into errors about keys that the parser merely could not see', () => {
    expect(errorsOf(changed(['prompt = "Be brief."', 'prompt = "Be brief.']))).toEqual([
      'not valid TOML: Unterminated string constant',
    ]);
  });

  it('include bytes that are not UTF-8, which a voice would stumble over', () => {
    const latin1 = Buffer.from(changed(['prompt = "Be brief."', 'prompt = "Olé"']), 'latin1');
    expect(load(latin1.toString('utf8')).problems).toMatchObject([
      { line: 3, column: 13, message: 'not valid TOML: this is not UTF-8; save the file with that encoding' },
    ]);
    expect(errorsOf(Buffer.from(`\uFEFF${goodFile}`, 'utf16le').toString('utf8'))).toHaveLength(1);
  });

  it.each([
    ['prompt = “Be brief.”', 'write straight quotes (")'],
    ['prompt = Be brief.', 'a value is a text in quotes, a number, true or false'],
    ['max_call_s = True', 'a value is a text in quotes, a number, true or false'],
    ['tools = [end_call]', 'a value is a text in quotes, a number, true or false'],
    ['tools = [ [end_call', 'a value is a text in quotes, a number, true or false'],
  ])('say what to write instead of %s', (line, remedy) => {
    expect(errorsOf(withAgentLine(line))).toEqual([`not valid TOML: Unexpected character; ${remedy}`]);
  });

  it('do not take the name of a section that is there twice for a value', () => {
    expect(errorsOf(`${goodFile}\n[agent]\n`)).toEqual([
      'not valid TOML: [agent] is already there in line 1',
    ]);
  });

  it('in the header of a section stop the judgement of its keys', () => {
    expect(errorsOf(changed(['[stt]', '[stt']))).toHaveLength(1);
  });

  it('include a key that is given twice', () => {
    const { problems } = load(withAgentLine('name = "again"'));
    expect(problems).toMatchObject([
      { line: 3, column: 1, message: 'not valid TOML: agent.name is already there in line 2' },
    ]);
  });
});

describe('a key or a section in the wrong table', () => {
  it.each([
    ['silence_end_ms = 700', 'agent.silence_end_ms is not a key here; it belongs into [turn]'],
    ['voice = "ada"', 'agent.voice is not a key here; it belongs into [tts]'],
    ['turn = {}', 'agent.turn is not a key here; [turn] is a section of its own'],
    ['mcp = []', 'agent.mcp is not a key here; [[mcp]] is a section of its own'],
  ])('is sent where it belongs: %s', (line, message) => {
    expect(errorsOf(withAgentLine(line))).toEqual([message]);
  });

  it('is sent from [turn] into a table within it', () => {
    expect(errorsOf(withSection('[turn]\nask_after_s = 5'))).toEqual([
      'turn.ask_after_s is not a key here; it belongs into [turn.idle]',
    ]);
  });
});

describe('the prompt', () => {
  it('comes from prompt_file when the file names one', () => {
    const asked: string[] = [];
    const readFile = (path: string): string => {
      asked.push(path);
      return 'From a file.';
    };
    const { definition } = load(changed(['prompt = "Be brief."', 'prompt_file = "prompt.md"']), { readFile });
    expect(definition?.agent.prompt).toBe('From a file.');
    expect(asked).toEqual(['prompt.md']);
  });

  it.each([
    ['cannot be read', undefined],
    ['is empty', ' \n'],
    ['of more than 65536 characters', 'x'.repeat(65_537)],
  ])('is refused when the file %s', (rule, text) => {
    const errors = errorsOf(changed(['prompt = "Be brief."', 'prompt_file = "prompt.md"']), {
      readFile: () => text,
    });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(rule);
  });

  it('has exactly one source', () => {
    expect(errorsOf(withAgentLine('prompt_file = "prompt.md"'), { readFile: () => 'x' })).toEqual([
      'agent.prompt_file and agent.prompt exclude each other; keep one of them',
    ]);
    expect(errorsOf(changed(['prompt = "Be brief."', '']))).toEqual([
      'agent.prompt or agent.prompt_file is required',
    ]);
  });
});

describe('agent and turn keys', () => {
  it.each([
    [
      'tools = ["end_call", "fly"]',
      'agent.tools[1] must be the name of a tool: no tool of this name is provided (there is end_call, send_dtmf)',
    ],
    [
      'tools = [{ name = "a" }]',
      'agent.tools has names; what each of the tools is stands in a table [[tools]]',
    ],
    ['tools = ["end_call", "end_call"]', 'agent.tools[1] repeats a name of the list'],
    ['language = "english language"', 'agent.language must be a language tag such as "en" or "en-US"'],
    ['max_call_s = 86401', 'agent.max_call_s must be at most 86400'],
    ['max_call_s = 1.5', 'agent.max_call_s must be an integer'],
    ['max_call_s = 99999999999999999999', 'agent.max_call_s must be an integer'],
    ['greeting = true', 'agent.greeting must be a text in quotes'],
    ['fillers = "one"', 'agent.fillers must be a list in brackets'],
  ])('refuse %s', (line, message) => {
    expect(errorsOf(withAgentLine(line))).toContain(message);
  });

  it('warns of a tool that is declared and that agent.tools leaves out', () => {
    const declared = (name: string): string => `
[[tools]]
name = "${name}"
description = "Looks something up."
[tools.http]
url = "https://example.com/${name}"
`;
    const tools = declared('weather') + declared('stock');
    const { definition, problems } = load(withAgentLine('tools = ["stock"]') + tools);
    expect(definition).toBeDefined();
    expect(problems.map(({ severity, message }) => `${severity} ${message}`)).toEqual([
      'warning tools[0].name is not in agent.tools, so the LLM is not told of this tool',
    ]);
    expect(load(goodFile + tools).problems).toEqual([]);
  });

  it.each(['"Front desk"', `"${'n'.repeat(65)}"`, '""'])('refuse the name %s', (name) => {
    expect(errorsOf(changed(['"desk"', name]))).toEqual([
      'agent.name must be 1 to 64 letters, digits, _ or -',
    ]);
  });

  it.each([
    ['stop_ms = 800\nsilence_end_ms = 700', 'turn.silence_end_ms must be at least turn.stop_ms'],
    [
      'silence_end_ms = 2501\nmax_silence_ms = 2500',
      'turn.silence_end_ms must be at most turn.max_silence_ms',
    ],
    ['stop_ms = 800\nmax_silence_ms = 700', 'turn.stop_ms must be at most turn.max_silence_ms'],
    ['vad_threshold = 1.0', 'turn.vad_threshold must be at most 0.95'],
    ['smart_turn = true', 'turn.smart_turn must be one of "auto", "on", "off"'],
  ])('refuse %s in [turn]', (line, message) => {
    expect(errorsOf(withSection(`[turn]\n${line}`))).toEqual([message]);
  });

  it.each([
    ['stop_ms = 800', [800, 800, 2500], [800, 1500, 2000]],
    ['silence_end_ms = 100', [100, 100, 2500], [100, 100, 2000]],
    ['silence_end_ms = 3000', [200, 3000, 3000], [300, 3000, 3000]],
    ['max_silence_ms = 400', [200, 400, 400], [300, 400, 400]],
  ])('make room for %s in the other silences', (line, withoutModel, withModel) => {
    const { silences } = load(withSection(`[turn]\n${line}`)).definition!.turn;
    expect(Object.values(silences.withoutModel)).toEqual(withoutModel);
    expect(Object.values(silences.withModel)).toEqual(withModel);
  });

  it('accept silences at their bounds', () => {
    expect(
      errorsOf(withSection('[turn]\nstop_ms = 500\nsilence_end_ms = 500\nmax_silence_ms = 500')),
    ).toEqual([]);
  });

  it('give a note for each key that changes nothing, and none for those of telephone calls', () => {
    const text = changed(
      ['provider = "stt_local_ws"', 'provider = "stt_local_ws"\nlanguage = "de"'],
      ['provider = "speech_compatible"', 'provider = "speech_compatible"\nlanguage = "de"'],
    );
    const telephony = `[telephony]
settle_timeout_ms = 5000
warm_transfer = true
caller_id = "+15550100000"
destinations = { billing = "+15550100001" }`;
    const { definition, problems } = load(`${text}\n${telephony}`);
    expect(definition).toBeDefined();
    expect(problems.every(({ severity }) => severity === 'note')).toBe(true);
    const led = ['stt.language', 'tts.language'];
    expect(problems.map(({ path }) => path).toSorted()).toEqual(led);
  });
});
