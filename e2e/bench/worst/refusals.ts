import type { WorstRequest } from './request';
import { filled, META, numbered, post, SPACE, TYPE } from './request';
import { amountsSpec, STORED_WITHIN } from './stored';

/** Size of a body with a wrong value, which the refusal quotes in part. */
const QUOTED_BYTES = 16 * 1_024;
/** About the largest size that is processed on the event loop. */
const BODY_BYTES = 120_000;

const { pod, amounts } = STORED_WITHIN;
const EVENT = `{${META},"involvedObject":{"namespace":"worst"},"firstTimestamp":"`;
const CRON_JOB = `{${META},"spec":{"schedule":"@every 1`;
const JOB_TEMPLATE =
  '","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}';
const POD = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"within"},"spec":{"containers":[';
const STATEFUL_SET = '{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"within"},"spec":';

/** Requests that run on the event loop, with their cost in error messages, or in finding no error. */
export const REFUSALS: readonly WorstRequest[] = [
  post('refusal within the bounds: time in other letters', `${SPACE}/events?dryRun=All`, [
    TYPE.json,
    () => filled({ begin: EVENT, item: '日', between: '', end: '"}', bytes: QUOTED_BYTES }),
  ]),
  post(
    'refusal within the bounds: schedule in other letters',
    '/apis/batch/v1/namespaces/worst/cronjobs?dryRun=All',
    [
      TYPE.json,
      () => filled({ begin: CRON_JOB, item: '日', between: '', end: JOB_TEMPLATE, bytes: BODY_BYTES }),
    ],
  ),
  put('refusal within the bounds: what of a pod may not change', pod, () => {
    const containers = filled({ item: numbered('{"name":"c#","image":"i"}'), count: 240 });
    const begin = `${POD}${containers}],"nodeSelector":{`;
    return filled({ begin, item: numbered('"k#":"v"'), end: '}}}', count: 600 });
  }),
  put(
    'PUT within the bounds: amounts in other units',
    amounts,
    () => `${STATEFUL_SET}${JSON.stringify(amountsSpec('1048576'))}}`,
  ),
];

function put(name: string, path: string, text: () => string): WorstRequest {
  const headers = { 'content-type': TYPE.json };
  return { name, method: 'PUT', path: `${path}?dryRun=All`, headers, body: () => Buffer.from(text()) };
}
