/** What one check of arguments may cost. Checks run to their end one after the other, so that one budget does for a compiler. */
import { _, type Ajv } from 'ajv';
import { isExactNumber } from '../base/exact-json.ts';

/** Thrown out of a check that costs more than it may. */
export class TooMuchError extends Error {
  override readonly name = 'TooMuchError';
}

/** Characters of texts times the steps that each takes, for all patterns of a check: about a second at the very most. */
const mostPatternSteps = 100_000_000;

export class CheckBudget {
  #references = 0;
  #patternSteps = 0;

  /** Runs a check that may follow so many references. @throws TooMuchError */
  run<T>(references: number, check: () => T): T {
    this.#references = references;
    this.#patternSteps = mostPatternSteps;
    return check();
  }

  spendOnPattern(steps: number): void {
    this.#patternSteps -= steps;
    if (this.#patternSteps < 0) throw new TooMuchError();
  }

  /** Few references can double the work with each of them, and lead back to where they came from. */
  countReferences(ajv: Ajv): void {
    const follow = (): void => {
      this.#references -= 1;
      if (this.#references < 0) throw new TooMuchError();
    };
    for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef']) {
      const known = ajv.getKeyword(keyword);
      if (typeof known !== 'object' || !('code' in known)) continue;
      ajv.removeKeyword(keyword).addKeyword({
        ...known,
        keyword,
        code: (context, type) => {
          context.gen.code(_`${context.gen.scopeValue('func', { ref: follow })}()`);
          known.code(context, type);
        },
      });
    }
  }
}

/** Values in a value, itself included. */
export function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return 1;
  return Object.values(value).reduce((count: number, inner) => count + countValues(inner), 1);
}
