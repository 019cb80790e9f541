export declare function clear(dist: string): void;
