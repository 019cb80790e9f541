/** The projects that `init` can begin, each with the folders of examples/templates that it is made of; a later one stands above those before. */
export const templates = {
  demo: { text: 'an agent file that talks about the weather', layers: ['any-project', 'agent-file', 'demo'] },
  restaurant: {
    text: 'books tables: a flow, a confirmation, a tool over HTTP',
    layers: ['any-project', 'agent-file', 'with-backend', 'restaurant'],
  },
  support: {
    text: 'looks up orders and arranges calls back: tools over HTTP',
    layers: ['any-project', 'agent-file', 'with-backend', 'support'],
  },
  realtime: {
    text: 'a model that hears and speaks by itself',
    layers: ['any-project', 'agent-file', 'realtime'],
  },
  typescript: { text: 'an agent process in TypeScript', layers: ['any-project', 'typescript'] },
  python: { text: 'an agent process in Python', layers: ['any-project', 'python'] },
} as const satisfies Readonly<Record<string, { readonly text: string; readonly layers: readonly string[] }>>;

export type TemplateName = keyof typeof templates;
export const templateNames = Object.keys(templates) as TemplateName[];

export const isTemplate = (name: string): name is TemplateName => Object.hasOwn(templates, name);
