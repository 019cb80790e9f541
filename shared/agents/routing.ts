/** Which calls come to an agent in a service of many, as its file says. */

export interface RoutingSplit {
  readonly agent: string;
  /** Percent. */
  readonly weight: number;
}

/** Plain JSON: it travels to workers with the agent. */
export interface RoutingDefinition {
  readonly numbers: readonly string[];
  /** In lower case. */
  readonly hosts: readonly string[];
  readonly trunks: readonly string[];
  readonly open: boolean;
  readonly splits: readonly RoutingSplit[];
}

/** Of an agent whose file says nothing. */
export const noRouting: RoutingDefinition = { numbers: [], hosts: [], trunks: [], open: false, splits: [] };
