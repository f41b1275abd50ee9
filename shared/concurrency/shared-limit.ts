/** A limit that replicas divide among them by what each of them sees. */
export interface SharedLimit {
  /** Returns what this replica could have used since the last call, by name; unnamed limits were not used. */
  takeDemands(): ReadonlyMap<string, number>;
  /** This replica has these parts of what it named, from 0 to 1, and `even` of everything else. */
  divide(parts: ReadonlyMap<string, number>, even: number): void;
}
