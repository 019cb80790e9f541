import tseslint from 'typescript-eslint';

const runtimeOnly = 'lives in shared/runtime alone: time and chance are arguments everywhere else';

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', '*.js', '*.cjs'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: [
          './tsconfig.json',
          './web/tsconfig.json',
          ...['bench', 'chaos', 'eval-turns'].map((name) => `./scripts/${name}/tsconfig.json`),
        ],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-floating-promises': 'error',
      // `const { a: _a, ...rest } = all` is how a field is left out.
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-non-null-assertion': 'error',
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 70 }],
      'no-empty': ['error', { allowEmptyCatch: false }],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'named exports only' },
        { selector: 'ExportAllDeclaration', message: 'name what is exported' },
      ],
    },
  },
  {
    files: ['supervisor/**/*.ts', 'worker/**/*.ts', 'inference/**/*.ts', 'shared/**/*.ts'],
    ignores: ['shared/runtime/**'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'performance'].map((name) => ({
          name,
          message: runtimeOnly,
        })),
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: runtimeOnly },
        { object: 'Math', property: 'random', message: runtimeOnly },
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'vitest.config.ts'],
    rules: {
      // A table of cases is read in one place.
      'max-lines': ['error', { max: 600 }],
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      'no-restricted-syntax': 'off',
    },
  },
  { files: ['**/*.mjs'], ...tseslint.configs.disableTypeChecked },
);
