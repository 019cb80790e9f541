/**
 * What tools there are, by name: declared, judged and offered (docs/reference/agent-link.md, Tool declaration).
 * Everything here is pure and made once for all calls that have the same tools. A schema that cannot be compiled keeps
 * its tool out; nothing here runs one.
 */
import { canonicalJson, writeJson, parseJson } from '../../shared/base/exact-json.ts';
import { ok, type Result, fail } from '../../shared/base/result.ts';
import type { FlowDefinition } from '../../shared/config/agent/flow.ts';
import { compileArguments, type ArgumentCheck, type SchemaOptions } from '../../shared/config/json-schema.ts';
import { flowTransitions, toolOf } from '../core/flow/flow.ts';
import type { ToolRule, Verdict } from '../core/tools/tools-state.ts';
import type { ToolDeclaration } from '../stages/stage.ts';
import { agentChangeRule, coreRule, type BuiltInTool } from './built-in.ts';
import { fitsTool, offeredName } from './offered-name.ts';
import type { Schema } from '../../shared/config/schema-walk.ts';
import { offeredSchema } from './offered-schema.ts';
import type { Performer, ToolRunner } from './tool.ts';
import { isDeeperThan } from '../../shared/base/nesting.ts';
import { isTable } from '../../shared/config/table.ts';

// Arguments of tool calls as the LLM writes them, with every digit of their numbers.

/** Characters of the arguments of one call; a longer text is no question to a tool. */
export const longestArguments = 65_536;
const deepestArguments = 64;

/** The arguments of one call, or the rule that they break in words for the LLM. No text at all means none. */
function readArguments(text: string): Result<Readonly<Record<string, unknown>>, string> {
  if (text.length > longestArguments) return fail('the arguments are too long');
  let value: unknown;
  try {
    value = text === '' ? {} : parseJson(text);
  } catch {
    return fail('the arguments are not valid JSON');
  }
  if (!isTable(value)) return fail('the arguments must be a JSON object');
  return isDeeperThan(value, deepestArguments) ? fail('the arguments are nested too deeply') : ok(value);
}

export interface CatalogTool {
  /** As the LLM is offered it. */
  readonly declaration: ToolDeclaration;
  /** What its runner knows it by, and an agent file that names it. */
  readonly ownName: string;
  /** The arguments as they were declared, or the rule that they break in words for the LLM. */
  readonly read: (argumentsText: string) => Result<Arguments, string>;
  readonly rule: ToolRule;
  readonly performer: Performer;
  readonly check: ArgumentCheck;
  readonly refine?: BuiltInTool['refine'];
  /** Of a tool that a runner performs. */
  readonly runner?: ToolRunner;
}

/** What providers take in one request, and more than any model chooses from well. */
const mostOffered = 128;
/** Characters of one of them. */
const longestOffered = 131_072;

type Arguments = Readonly<Record<string, unknown>>;

export interface ToolSource {
  /** As it was declared. */
  readonly declaration: ToolDeclaration;
  readonly rule: ToolRule;
  readonly runner?: ToolRunner;
  readonly refine?: BuiltInTool['refine'];
  /** Who wrote the schema: patterns of servers and agent processes are not obeyed. */
  readonly patterns: SchemaOptions['patterns'];
}

export interface RefusedTool {
  readonly name: string;
  /** Continues the name: `is the name of another tool`. */
  readonly rule: string;
}

/** A catalog and what did not get into it. */
export interface CatalogReading {
  readonly catalog: ToolCatalog;
  readonly refused: readonly RefusedTool[];
}

export class ToolCatalog {
  readonly #tools: ReadonlyMap<string, CatalogTool>;
  /** Tools that are offered under another name, by their own. */
  readonly #byOwnName: ReadonlyMap<string, CatalogTool>;
  readonly #transitions: ReadonlyMap<string, ReadonlyMap<string, CatalogTool>>;
  /** Offered outside of flows, and by node within one. */
  readonly #offered: readonly ToolDeclaration[];
  readonly #offeredByNode: ReadonlyMap<string, readonly ToolDeclaration[]>;

  private constructor(
    tools: ReadonlyMap<string, CatalogTool>,
    { flow, allowed }: { flow: FlowDefinition | undefined; allowed: (name: string) => boolean },
  ) {
    this.#tools = tools;
    const others = [...tools.values()].filter(({ declaration, ownName }) => declaration.name !== ownName);
    this.#byOwnName = new Map(others.map((tool) => [tool.ownName, tool]));
    this.#transitions = flow === undefined ? new Map() : transitionsOf(flow);
    const all = [...tools.values()];
    const among = (isNamed: (name: string) => boolean): ToolDeclaration[] =>
      all
        .filter(({ declaration, ownName }) => isNamed(declaration.name) || isNamed(ownName))
        .map(({ declaration }) => declaration);
    this.#offered = among(allowed).slice(0, mostOffered);
    this.#offeredByNode = new Map(
      Object.entries(flow?.nodes ?? {}).map(([node, { tools: named }]) => {
        const own = among((name) => named.includes(name));
        const leading = [...(this.#transitions.get(node)?.values() ?? [])];
        return [node, [...own, ...leading.map(({ declaration }) => declaration)]];
      }),
    );
  }

  /** Sources in front win over those behind with the same name. */
  static build(
    sources: readonly ToolSource[],
    options: { readonly flow: FlowDefinition | undefined; readonly allowed: (name: string) => boolean },
  ): CatalogReading {
    const taken = options.flow === undefined ? [] : [...transitionsOf(options.flow).values()];
    const reserved = new Set(taken.flatMap((tools) => [...tools.keys()]));
    const own = sources.map(({ declaration }) => declaration.name).filter((name) => fitsTool.test(name));
    const declared = new Set([...own, ...reserved]);
    const tools = new Map<string, CatalogTool>();
    const known = new Set<string>();
    const refused: RefusedTool[] = [];
    const isTaken = (name: string): boolean => declared.has(name) || tools.has(name);
    for (const source of sources) {
      const { name } = source.declaration;
      const offered = offeredName(name, { fits: fitsTool, isTaken });
      const isSecond = known.has(name) || tools.has(offered) || reserved.has(offered);
      const compiled = compileArguments(source.declaration.parameters, { patterns: source.patterns });
      known.add(name);
      if (isSecond) refused.push({ name, rule: 'is the name of another tool' });
      else if (compiled.ok) {
        const tool = catalogTool(source, offered, compiled.value);
        if (writeJson(tool.declaration).length <= longestOffered) tools.set(offered, tool);
        else refused.push({ name, rule: 'has a schema that is too large with its references written out' });
      } else {
        const at = ['parameters', ...compiled.error.path].join('.');
        refused.push({ name, rule: `has a schema that is refused: ${at} ${compiled.error.rule}` });
      }
    }
    const catalog = new ToolCatalog(tools, options);
    return { catalog, refused: [...refused, ...catalog.#beyond(options.allowed)] };
  }

  declarations(node?: string): readonly ToolDeclaration[] {
    return node === undefined ? this.#offered : (this.#offeredByNode.get(node) ?? []);
  }

  /** By the name that the LLM is offered, or by its own. */
  find(name: string, node?: string): CatalogTool | undefined {
    return this.#tools.get(name) ?? this.#byOwnName.get(name) ?? this.#findTransition(name, node);
  }

  /** Tools that would be offered, if there were not so many. */
  #beyond(allowed: (name: string) => boolean): RefusedTool[] {
    if (this.#offered.length < mostOffered || this.#transitions.size > 0) return [];
    const offered = new Set(this.#offered.map(({ name }) => name));
    return [...this.#tools.values()]
      .filter(
        ({ declaration: { name }, ownName }) => !offered.has(name) && (allowed(name) || allowed(ownName)),
      )
      .map(({ ownName }) => ({
        name: ownName,
        rule: `is one more than the ${mostOffered} that are offered`,
      }));
  }

  validate(name: string, argumentsText: string, node?: string): Verdict {
    const tool = this.find(name, node);
    if (tool === undefined) return { ok: false, rule: 'no tool of this name is offered' };
    const given = tool.read(argumentsText);
    if (!given.ok) return { ok: false, rule: given.error };
    const fault = tool.check(given.value);
    if (fault !== undefined) return { ok: false, rule: fault };
    const refined = tool.refine?.(given.value) ?? given;
    if (!refined.ok) return { ok: false, rule: refined.error };
    return { ok: true, canonical: canonicalJson(refined.value) };
  }

  /** Two nodes may lead to a third with different values. Without the node, any transition of the name does. */
  #findTransition(name: string, node: string | undefined): CatalogTool | undefined {
    if (node !== undefined) return this.#transitions.get(node)?.get(name);
    for (const tools of this.#transitions.values()) {
      const found = tools.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function catalogTool(source: ToolSource, name: string, check: ArgumentCheck): CatalogTool {
  const { name: ownName, description, parameters: declared } = source.declaration;
  const { parameters, renamed } = offeredSchema(declared);
  return {
    declaration: { name, ...(name !== ownName && { ownName }), ...described(description, parameters) },
    ownName,
    read: (text) => {
      const given = readArguments(text);
      return given.ok && renamed.size > 0 ? ok(withOwnNames(given.value, renamed)) : given;
    },
    rule: source.rule,
    performer: source.runner === undefined ? 'core' : 'runner',
    check,
    ...(source.refine !== undefined && { refine: source.refine }),
    ...(source.runner !== undefined && { runner: source.runner }),
  };
}

/** OpenAI refuses every request with a longer description; that of the arguments may have any length. */
const longestDescription = 1_024;

/** What a description has beyond its bound stands with the arguments. */
function described(whole: string, parameters: Schema): Pick<ToolDeclaration, 'description' | 'parameters'> {
  if (whole.length <= longestDescription) return { description: whole, parameters };
  const end = whole.lastIndexOf(' ', longestDescription);
  const isHalf = /[\uD800-\uDBFF]/.test(whole[longestDescription - 1] ?? '');
  const at = end > longestDescription / 2 ? end : longestDescription - (isHalf ? 1 : 0);
  const { description: own } = parameters;
  const rest = [whole.slice(at).trimStart(), ...(typeof own === 'string' ? [own] : [])].join('\n\n');
  return { description: whole.slice(0, at), parameters: { ...parameters, description: rest } };
}

const withOwnNames = (given: Arguments, renamed: ReadonlyMap<string, string>): Arguments =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [renamed.get(name) ?? name, value]));

/** The transitions of every node as tools; the definition was checked, so that each of them compiles. */
function transitionsOf(flow: FlowDefinition): Map<string, ReadonlyMap<string, CatalogTool>> {
  return new Map(
    Object.keys(flow.nodes).map((node) => {
      const state = { node, turns: 0, leavesAt: undefined, pending: undefined, data: {} };
      const tools = flowTransitions(state, flow).flatMap((declaration): [string, CatalogTool][] => {
        const compiled = compileArguments(declaration.parameters, { patterns: 'obeyed' });
        if (!compiled.ok) return [];
        const isAgent = flow.nodes[node]?.next.some(
          (next) => next.isAgent === true && toolOf(next) === declaration.name,
        );
        const rule = isAgent === true ? agentChangeRule : coreRule;
        const source: ToolSource = { declaration, rule, patterns: 'obeyed' };
        return [[declaration.name, catalogTool(source, declaration.name, compiled.value)]];
      });
      return [node, new Map(tools)];
    }),
  );
}
