/** Judges messages by the types that a package publishes, as its own compiler would. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const place = fileURLToPath(new URL('messages-to-judge.ts', import.meta.url));

const options: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: [],
};

/** What is wrong with each message; a field that the type does not have is wrong too. */
export function typeErrors(
  { module, type }: { readonly module: string; readonly type: string },
  messages: readonly object[],
): string[] {
  const lines = messages.map((message, at) => `export const m${at}: ${type} = ${JSON.stringify(message)};`);
  const text = [`import type { ${type} } from '${module}';`, ...lines].join('\n');
  const host = ts.createCompilerHost(options);
  const files = { ...host };
  host.fileExists = (name) => name === place || files.fileExists(name);
  host.getSourceFile = (name, version, ...rest) =>
    name === place ? ts.createSourceFile(name, text, version) : files.getSourceFile(name, version, ...rest);
  const program = ts.createProgram([place], options, host);
  return ts.getPreEmitDiagnostics(program, program.getSourceFile(place)).map(({ start = 0, messageText }) => {
    const line = text.slice(0, start).split('\n').length - 2;
    return `${JSON.stringify(messages[line])}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}
