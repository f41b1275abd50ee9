import type {
  MatchCondition,
  MatchResources,
  ParamKind,
  ParamRef,
  Variable,
} from '../../../../shared/api/types/admissionregistration-v1';
import { AdmissionCompiler } from '../../../../shared/cel/admission/expressions';
import type { CompiledExpression, ExpressionUse } from '../../../../shared/cel/admission/expressions';
import type { CelType } from '../../../../shared/cel/check/types';
import { ALL_RELEASES } from '../../../../shared/cel/environment';
import { GROUP } from '../../../../shared/names';
import { API_SERVER_USER } from '../../../engine/registry/api-server-user';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { LoopBounds } from '../../../engine/request/loop-bounds';
import { CompileQueue, MatchConditions } from '../expressions/match-conditions';
import type { Match } from './matching';
import { compileMatch } from './matching';

/** What validating and mutating policies have in common. */
interface PolicySpec {
  readonly failurePolicy?: string;
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly Variable[];
}

/** A policy, ready to be evaluated. Its expressions are compiled when a request first needs them. */
export abstract class Policy {
  readonly name: string;
  readonly match: Match;
  readonly paramKind: ParamKind | undefined;
  /** failurePolicy Ignore. */
  readonly failsOpen: boolean;
  readonly conditions: MatchConditions | undefined;
  readonly variables = new Map<string, CompiledExpression>();
  readonly #compiler = new AdmissionCompiler(ALL_RELEASES, true);
  readonly #queue = new CompileQueue();
  readonly #use: ExpressionUse;

  constructor(name: string, spec: PolicySpec) {
    const { matchConditions = [], variables = [], paramKind } = spec;
    this.name = name;
    this.match = compileMatch(spec.matchConstraints);
    this.paramKind = paramKind;
    this.failsOpen = spec.failurePolicy === 'Ignore';
    this.#use = { hasParams: paramKind !== undefined, hasAuthorizer: true };
    for (const variable of variables) {
      this.#queue.add(variable.expression.length, () => {
        const compiled = this.#compiler.compileVariable(variable.name, variable.expression, this.#use);
        this.variables.set(variable.name, compiled);
      });
    }
    const shared = { compiler: this.#compiler, queue: this.#queue };
    this.conditions =
      matchConditions.length === 0 ? undefined : new MatchConditions(matchConditions, this.#use, shared);
  }

  /** Compiles what is not compiled yet; undefined if there is nothing. Rejects with TooLargeHereError beyond the bounds. */
  prepare(bounds: LoopBounds | undefined): Promise<void> | undefined {
    return this.#queue.prepare(bounds);
  }

  /** Adds an expression that is compiled after the variables. */
  add(
    source: string,
    types: readonly CelType[],
    keep: (compiled: CompiledExpression) => void,
    use: Partial<ExpressionUse> = {},
  ): void {
    this.#queue.add(source.length, () => {
      keep(this.#compiler.compile(source, types, { ...this.#use, ...use }));
    });
  }
}

/** A binding of a policy of either kind. */
export interface Binding {
  readonly name: string;
  readonly policyName: string;
  readonly match: Match;
  readonly paramRef: ParamRef | undefined;
  /** Only of validating policies. */
  readonly actions: readonly string[];
}

const POLICY_RESOURCES: readonly string[] = [
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
];
const UNSEEN: ReadonlyMap<string, readonly string[]> = new Map([
  [GROUP.authentication, ['selfsubjectreviews', 'tokenreviews']],
  [
    GROUP.authorization,
    [
      'localsubjectaccessreviews',
      'selfsubjectaccessreviews',
      'selfsubjectrulesreviews',
      'subjectaccessreviews',
    ],
  ],
  [GROUP.admissionregistration, POLICY_RESOURCES],
]);

/**
 * Reports writes that policies do not see: policies themselves, so that a broken one can be removed, reviews of access
 * (k8s.io/kubernetes `kubeapiserver/admission/exclusion`), and the server's own writes, so that it can start.
 */
export function isExempt({ write: { endpoint, user } }: AdmissionAttributes): boolean {
  const { group, resource } = endpoint.row;
  return user === API_SERVER_USER || UNSEEN.get(group)?.includes(resource) === true;
}
