import { AuthorizerValue, resourceCheck } from '../../../../shared/cel/library/authorization';
import type { AccessAnswer, AccessQuestion } from '../../../../shared/cel/library/authorization';
import type { OpaqueValue } from '../../../../shared/cel/eval/values';
import { SERVICE_ACCOUNT } from '../../../../shared/names';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { Authorizer } from '../../../engine/request/access';
import type { UserInfo } from '../../../engine/request/exchange';
import { namespaceOf, resourceEndpoint } from '../webhooks/reviewed-request';

/**
 * An expression needs a decision of the authorizer, which takes time. The evaluation ends; it is repeated once the answer is known.
 * Evaluations have no side effects, and the cost of a check allows two of them in one expression.
 */
export class AnswerNeeded extends Error {
  readonly question: AccessQuestion;

  constructor(question: AccessQuestion) {
    super('an access check has to be answered first');
    this.question = question;
  }
}

/** The authorizer as expressions of one write see it: each question is asked once (k8s.io/apiserver `plugin/authorizer`). */
export class AccessChecks {
  readonly #authorize: Authorizer;
  readonly #attributes: AdmissionAttributes;
  readonly #answers = new Map<string, AccessAnswer>();
  #authorizer: AuthorizerValue | undefined;
  #requestResource: OpaqueValue | undefined;

  constructor(authorize: Authorizer, attributes: AdmissionAttributes) {
    this.#authorize = authorize;
    this.#attributes = attributes;
  }

  get authorizer(): AuthorizerValue {
    return (this.#authorizer ??= new AuthorizerValue((question) => this.#answerTo(question)));
  }

  get requestResource(): OpaqueValue {
    return (this.#requestResource ??= this.#checkOfRequest());
  }

  #checkOfRequest(): OpaqueValue {
    const { name, subresource } = this.#attributes.write;
    const { group, resource } = resourceEndpoint(this.#attributes).row;
    const target = { group, resource, subresource, namespace: namespaceOf(this.#attributes), name };
    return resourceCheck(this.authorizer, target);
  }

  /** Asks the authorizer. An authorizer that fails is an answer, too; rejects only when the signal is aborted. */
  async answer(question: AccessQuestion, signal: AbortSignal): Promise<void> {
    const { path, serviceAccount, verb, group = '', resource = '', subresource = '' } = question;
    const { namespace = '', name = '' } = question;
    let answer: AccessAnswer;
    try {
      const { decision, reason, error } = await this.#authorize(
        {
          user: serviceAccount === undefined ? this.#attributes.write.user : accountUser(serviceAccount),
          verb,
          isResourceRequest: path === undefined,
          path: path ?? '',
          apiGroup: group,
          apiVersion: path === undefined ? '*' : '',
          namespace,
          resource,
          subresource,
          name,
        },
        signal,
      );
      answer = { isAllowed: decision === 'allow', reason, error: error ?? '' };
    } catch (error) {
      if (signal.aborted) throw error;
      answer = { isAllowed: false, reason: '', error: (error as Error).message };
    }
    this.#answers.set(JSON.stringify(question), answer);
  }

  #answerTo(question: AccessQuestion): AccessAnswer {
    const known = this.#answers.get(JSON.stringify(question));
    if (known === undefined) throw new AnswerNeeded(question);
    return known;
  }
}

function accountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): UserInfo {
  const { userPrefix, group, groupPrefix } = SERVICE_ACCOUNT;
  return {
    name: `${userPrefix}${namespace}:${name}`,
    uid: '',
    groups: [group, `${groupPrefix}${namespace}`],
    extra: {},
  };
}
