import { check } from './check/checker';
import type { Checked } from './check/checker';
import { mergeFunctions } from './check/declarations';
import type {
  Declarations,
  FunctionDeclaration,
  StructTypes,
  VariableDeclaration,
} from './check/declarations';
import { validateLiterals } from './check/literals';
import { plan } from './eval/planner';
import type { Plan } from './eval/plan';
import { Frame } from './eval/frame';
import type { FrameOptions } from './eval/frame';
import type { Result } from './eval/values';
import { ADDRESS_FUNCTIONS, ADDRESS_TYPE_NAMES } from './library/addresses';
import { AUTHORIZATION_FUNCTIONS } from './library/authorization';
import { LIST_FUNCTIONS } from './library/lists';
import { FORMAT_FUNCTIONS } from './library/named-formats';
import { OPTIONAL_FUNCTIONS, OPTIONAL_TYPE_NAME } from './library/optionals';
import { PATTERN_FUNCTIONS } from './library/patterns';
import { QUANTITY_FUNCTIONS } from './library/quantities';
import { SEMVER_FUNCTIONS } from './library/semantic-versions';
import { STANDARD_FUNCTIONS, STANDARD_TYPES } from './library/standard';
import { STRING_FUNCTIONS } from './library/strings';
import { URL_FUNCTIONS } from './library/urls';
import { LIST_MACROS, OPTIONAL_MACROS, STANDARD_MACROS, TWO_VARIABLE_MACROS } from './parser/macros';
import type { Macro } from './parser/macros';
import { parse } from './parser/parser';
import type { ParseOptions } from './parser/parser';
import { Issues } from './parser/source';

/** A release of Kubernetes later than all libraries: stored expressions are compiled with everything there is. */
export const ALL_RELEASES = Infinity;

/** Release 1.28 has optional values. */
const OPTIONALS_SINCE = 28;
/** Release 1.30 has addresses and networks. */
const ADDRESSES_SINCE = 30;
/** Release 1.29 checks constant patterns, durations and timestamps when it compiles. */
const LITERALS_SINCE = 29;

const FUNCTIONS: readonly FunctionDeclaration[] = [
  ...STANDARD_FUNCTIONS,
  ...OPTIONAL_FUNCTIONS,
  ...STRING_FUNCTIONS,
  ...LIST_FUNCTIONS,
  ...PATTERN_FUNCTIONS,
  ...URL_FUNCTIONS,
  ...QUANTITY_FUNCTIONS,
  ...ADDRESS_FUNCTIONS,
  ...FORMAT_FUNCTIONS,
  ...SEMVER_FUNCTIONS,
  ...AUTHORIZATION_FUNCTIONS,
];

const MACROS = [...STANDARD_MACROS, ...OPTIONAL_MACROS, ...TWO_VARIABLE_MACROS, ...LIST_MACROS];

export interface EnvironmentOptions {
  /** The release of Kubernetes, 1.x, whose libraries expressions may use. */
  readonly release: number;
  /** Variables of expressions; later ones replace earlier ones of the same name. */
  readonly variables?: readonly VariableDeclaration[];
  /** Types with fields, by name. */
  readonly structs?: StructTypes;
  /** Functions besides those of the release. */
  readonly functions?: readonly FunctionDeclaration[];
  /** Macros besides those of the release. */
  readonly macros?: readonly Macro[];
  readonly container?: string;
  /** Whether elements of literals may differ in their types; Kubernetes does not allow it. */
  readonly allowsMixedLiterals?: boolean;
  readonly hasEscapedNames?: boolean;
}

/** What expressions may use: variables, types, functions and macros of one release. */
export class Environment {
  readonly #options: EnvironmentOptions;
  readonly #declarations: Declarations;
  readonly #parseOptions: ParseOptions;

  constructor(options: EnvironmentOptions, base?: Environment) {
    const { release } = options;
    this.#options = options;
    const macros = [...MACROS, ...(options.macros ?? [])];
    this.#parseOptions =
      base === undefined
        ? {
            macros: macros.filter(({ since }) => since <= release),
            hasOptionals: release >= OPTIONALS_SINCE,
            hasEscapedNames: options.hasEscapedNames === true,
          }
        : base.#parseOptions;
    const types = [
      ...STANDARD_TYPES,
      ...(release >= OPTIONALS_SINCE ? [OPTIONAL_TYPE_NAME] : []),
      ...(release >= ADDRESSES_SINCE ? ADDRESS_TYPE_NAMES : []),
    ];
    const variables = [...types, ...(options.variables ?? [])];
    const functions = base === undefined ? functionsOf(release) : base.#declarations.functions;
    this.#declarations = {
      container: options.container ?? '',
      variables: new Map(variables.map((variable) => [variable.name, variable])),
      functions:
        options.functions === undefined || base !== undefined
          ? functions
          : mergeFunctions([...functions.values(), ...options.functions]),
      structs: options.structs ?? new Map(),
    };
  }

  /** Returns an environment with other variables and types; functions are shared. */
  with(options: Pick<EnvironmentOptions, 'variables' | 'structs'>): Environment {
    return new Environment({ ...this.#options, ...options }, this);
  }

  /**
   * Parses and checks an expression.
   *
   * @returns the checked expression, or issues in cel-go's words
   */
  compile(source: string): Checked | Issues {
    const parsed = parse(source, this.#parseOptions);
    if (parsed instanceof Issues) return parsed;
    const checked = check(parsed, this.#declarations);
    if (checked instanceof Issues) return checked;
    const issues = validateLiterals(checked, {
      hasValues: this.#options.release >= LITERALS_SINCE,
      isHomogeneous: this.#options.allowsMixedLiterals !== true,
    });
    return issues.isEmpty ? checked : issues;
  }

  /**
   * Plans a checked expression.
   *
   * @throws PlanError for constants that have no value
   */
  plan(checked: Checked): Program {
    return new Program(plan(checked, this.#declarations.functions));
  }
}

/** What an evaluation returned and cost. */
export interface Evaluation {
  readonly result: Result;
  /** In upstream's units. */
  readonly cost: number;
  /** What of it was work of this thread; answers of other parts, such as the authorizer, are not. */
  readonly work: number;
}

/** A planned expression, which can be evaluated any number of times. */
export class Program {
  readonly #plan: Plan;

  constructor(planned: Plan) {
    this.#plan = planned;
  }

  /**
   * Evaluates the expression.
   *
   * @throws CostLimitExceeded above the limit, and whatever the pause hook throws
   */
  evaluate(options: FrameOptions): Evaluation {
    const frame = new Frame(options);
    const result = this.#plan(frame);
    return { result, cost: frame.cost, work: frame.work };
  }
}

/** The functions of each release that was used; there are few releases. */
const known = new Map<number, ReadonlyMap<string, FunctionDeclaration>>();

function functionsOf(release: number): ReadonlyMap<string, FunctionDeclaration> {
  const merged = known.get(release) ?? mergeAvailable(release);
  known.set(release, merged);
  return merged;
}

function mergeAvailable(release: number): ReadonlyMap<string, FunctionDeclaration> {
  const available = FUNCTIONS.map(({ name, overloads }) => ({
    name,
    overloads: overloads.filter(({ since }) => since <= release),
  }));
  return mergeFunctions(available.filter(({ overloads }) => overloads.length > 0));
}
