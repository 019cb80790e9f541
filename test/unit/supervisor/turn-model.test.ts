/** Which turn model the service runs, and what refuses the start. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { smartTurnFile } from '../../../shared/installation/model-registry.ts';
import { sileroPath } from '../../../inference/models.ts';
import { chooseTurnModel, modelsFolder, whyNoVadModel } from '../../../shared/installation/turn-model.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-models-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function put(name: string, content = 'input_features logits'): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('the choice of the turn model', () => {
  it('takes the file that the variable names', () => {
    const path = put('mine.onnx');
    expect(chooseTurnModel({ smartTurnModel: path }, { env: {}, smartTurn: 'on' })).toEqual({
      ok: true,
      value: { path },
    });
  });

  it.each(['auto', 'on', 'off'] as const)(
    'refuses a named file that is not there or is no such model, also when smart_turn is %s',
    (smartTurn) => {
      const wrong = [join(folder, 'missing.onnx'), folder, put('other.onnx', 'something else')];
      for (const smartTurnModel of wrong) {
        const chosen = chooseTurnModel({ smartTurnModel }, { env: {}, smartTurn });
        expect(chosen.ok).toBe(false);
        expect(chosen.ok ? '' : chosen.error).toMatch(/^SVC_SMART_TURN_MODEL must name a /);
        expect(JSON.stringify(chosen)).not.toContain(smartTurnModel);
      }
    },
  );

  it('finds the fetched one in the folder of models', () => {
    const path = put(smartTurnFile);
    for (const smartTurn of ['auto', 'on'] as const)
      expect(chooseTurnModel({ modelsDir: folder }, { env: {}, smartTurn })).toMatchObject({
        value: { path },
      });
    expect(chooseTurnModel({ modelsDir: folder }, { env: {}, smartTurn: 'off' })).toEqual({
      ok: true,
      value: {},
    });
  });

  it('has a hint without a model when smart_turn is auto, and refuses when it is on', () => {
    const auto = chooseTurnModel({ modelsDir: folder }, { env: {}, smartTurn: 'auto' });
    expect(auto).toMatchObject({
      ok: true,
      value: { hint: expect.stringContaining('turns end by silence alone') as unknown },
    });
    const on = chooseTurnModel({ modelsDir: folder }, { env: {}, smartTurn: 'on' });
    expect(on.ok ? '' : on.error).toContain('turn.smart_turn is "on"');
  });

  it('refuses a folder that cannot be looked into, and does without that of a user whose home is out of sight', () => {
    // Stands for a folder of somebody else: tests run as root, too.
    const hidden = join('/', 'x'.repeat(300));
    expect(chooseTurnModel({ modelsDir: hidden }, { env: {}, smartTurn: 'auto' })).toEqual({
      ok: false,
      error: 'SVC_MODELS_DIR must name a folder that can be read: it cannot be read or written',
    });
    const ofUser = chooseTurnModel({}, { env: { HOME: hidden }, smartTurn: 'auto' });
    expect(ofUser).toMatchObject({ ok: true, value: { hint: expect.any(String) as unknown } });
  });

  it('says nothing when the variable is off, unless the agent file wants one', () => {
    put(smartTurnFile);
    const off = { smartTurnModel: 'off', modelsDir: folder };
    expect(chooseTurnModel(off, { env: {}, smartTurn: 'auto' })).toEqual({
      ok: true,
      value: {},
    });
    expect(chooseTurnModel(off, { env: {}, smartTurn: 'on' })).toMatchObject({ ok: false });
  });
});

describe('the folder of models', () => {
  it('is the named one, else that of the user for application data', () => {
    mkdirSync(join(folder, 'data'));
    const data = join(folder, 'data');
    expect(modelsFolder(folder, { XDG_DATA_HOME: data })).toBe(folder);
    expect(modelsFolder(undefined, { XDG_DATA_HOME: data, HOME: folder })).toBe(
      join(data, 'voice-agent-service', 'models'),
    );
    for (const env of [{ HOME: folder }, { HOME: folder, XDG_DATA_HOME: 'relative' }])
      expect(modelsFolder(undefined, env)).toBe(join(folder, '.local/share/voice-agent-service/models'));
  });
});

describe('the model of voice activity', () => {
  it('is the one that ships where none is named', () => {
    expect(whyNoVadModel({})).toBeUndefined();
    expect(whyNoVadModel({ vadModel: sileroPath(undefined) })).toBeUndefined();
  });

  it('refuses the start when it is named and cannot be one', () => {
    const older = put('older.onnx', 'input sr stateN output');
    for (const vadModel of [join(folder, 'missing.onnx'), folder, put('other.onnx', 'something else'), older])
      expect(whyNoVadModel({ vadModel })).toMatch(/^SVC_VAD_MODEL must name a /);
  });
});
