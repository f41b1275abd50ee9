import { RESOURCE } from '../../shared/api/resource-names';
import type { CronJob, CronJobSpec, Job } from '../../shared/api/types/batch-v1';
import type { Client } from '../../shared/client/client';
import { alreadyExists } from '../../shared/errors/status-error';
import { parseSchedule } from '../../shared/meta/cron';
import { formatTime } from '../../shared/meta/time';
import { zoneOffsets } from '../../shared/time-zone';
import type { WorkloadBench } from '../testing/workload-bench';
import { createWorkloadBench, podTemplate } from '../testing/workload-bench';
import { runCronJobs } from './cronjob';
import { CronJobPass } from './cronjob-pass';
import { JobControl } from './job-control';
import { dueTime, msUntilNext } from './missed-times';
import type { ZonedSchedule } from './next-time';
import { nextTime } from './next-time';

const MINUTE_MS = 60_000;
const CRON_JOBS = RESOURCE.cronjobs;
const JOBS = RESOURCE.jobs;

describe('the controller', () => {
  let bench: WorkloadBench;
  let aheadMs: number;
  beforeEach(async () => {
    bench = await createWorkloadBench();
    aheadMs = 0;
    const clock = { now: () => Date.now() + aheadMs };
    bench.run(async (context, signal) => runCronJobs(context, signal, clock), 'cronjob-controller');
  });
  afterEach(async () => bench.close());

  const make = async (spec: Partial<CronJobSpec> = {}): Promise<CronJob> => {
    const template = podTemplate({ app: 'tick' });
    const pod = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } };
    const jobTemplate = { metadata: { labels: { app: 'tick' } }, spec: { template: pod } };
    return bench.make(CRON_JOBS, 'tick', { spec: { schedule: '* * * * *', jobTemplate, ...spec } });
  };
  /** Moves the clock, and has the controller look at the CronJob. */
  const goOn = async (minutes: number): Promise<void> => {
    aheadMs += minutes * MINUTE_MS;
    await bench.change(CRON_JOBS, 'tick', { metadata: { labels: { ahead: String(aheadMs) } } });
  };
  const whenActive = async (count: number): Promise<CronJob> =>
    bench.whenObject(
      CRON_JOBS,
      'tick',
      ({ status }) => status?.lastScheduleTime !== undefined && (status.active ?? []).length === count,
    );
  const finish = async ({ metadata }: Job): Promise<void> => {
    const time = formatTime(Date.now() + aheadMs);
    const condition = { type: 'Complete', status: 'True', lastProbeTime: time, lastTransitionTime: time };
    const status = { startTime: time, completionTime: time, succeeded: 1, conditions: [condition] };
    await bench.change(JOBS, metadata.name ?? '', { status }, 'status');
  };

  test('starts a Job that is due, follows it, and keeps as many finished ones as wanted', async () => {
    await make({ successfulJobsHistoryLimit: 1 });
    await goOn(1);
    const { metadata, status } = await whenActive(1);
    const [job] = await bench.list(JOBS);
    const dueMs = Date.parse(status?.lastScheduleTime ?? '');
    const name = `tick-${String(dueMs / MINUTE_MS)}`;
    expect(job?.metadata).toMatchObject({
      name,
      labels: { app: 'tick' },
      ownerReferences: [{ kind: 'CronJob', name: 'tick', uid: metadata.uid, controller: true }],
    });
    expect(status?.active).toEqual([
      expect.objectContaining({ kind: 'Job', apiVersion: 'batch/v1', name, uid: job?.metadata.uid }),
    ]);
    if (job !== undefined) await finish(job);
    await whenActive(0);
    await goOn(1);
    await whenActive(1);
    const [second] = (await bench.list(JOBS)).filter((each) => each.metadata.name !== name);
    if (second !== undefined) await finish(second);
    await bench.whenList(JOBS, 'the newest Job alone', (jobs) => jobs.length === 1);
    await bench.whenList(
      RESOURCE.events,
      'all events',
      (events) => events.filter(({ reason }) => reason !== 'UnexpectedJob').length >= 5,
    );
    // A pass between the creation of a Job and the next status has one more event.
    const expected = [
      `SawCompletedJob: Saw completed job: ${name}, condition: Complete`,
      `SawCompletedJob: Saw completed job: ${second?.metadata.name ?? ''}, condition: Complete`,
      `SuccessfulCreate: Created job ${name}`,
      `SuccessfulCreate: Created job ${second?.metadata.name ?? ''}`,
      `SuccessfulDelete: Deleted job ${name}`,
    ];
    expect(await bench.eventsOf('CronJob')).toEqual(expect.arrayContaining(expected));
  });

  test.each([
    ['Allow', 2],
    ['Forbid', 1],
    ['Replace', 1],
  ])(
    'with the policy %s and a running Job, the next time has %d active',
    async (concurrencyPolicy, count) => {
      await make({ concurrencyPolicy });
      await goOn(1);
      const first = (await whenActive(1)).status?.active?.[0]?.uid;
      await goOn(1);
      const reasons = { Allow: 'SuccessfulCreate', Forbid: 'JobAlreadyActive', Replace: 'SuccessfulDelete' };
      const reason = reasons[concurrencyPolicy as keyof typeof reasons];
      await bench.whenList(RESOURCE.events, reason, (events) =>
        events.some((event) => event.reason === reason),
      );
      const { status } = await bench.whenObject(CRON_JOBS, 'tick', (cronJob) => {
        const uids = (cronJob.status?.active ?? []).map(({ uid }) => uid);
        return uids.length === count && uids.includes(first) === (concurrencyPolicy !== 'Replace');
      });
      expect(status?.lastScheduleTime).toBeDefined();
    },
  );

  test('starts nothing while it is suspended, and nothing that is too late', async () => {
    await make({ suspend: true, startingDeadlineSeconds: 30, schedule: '0 0 1 1 *' });
    await goOn(600_000);
    await bench.change(CRON_JOBS, 'tick', { spec: { suspend: false } });
    await goOn(1);
    await bench.change(CRON_JOBS, 'tick', { spec: { schedule: '* * * * *', startingDeadlineSeconds: 120 } });
    await goOn(1);
    await whenActive(1);
    expect(await bench.list(JOBS)).toHaveLength(1);
  });
});

function zoned(text: string, timeZone = 'UTC'): ZonedSchedule {
  const schedule = parseSchedule(text);
  if (typeof schedule === 'string') throw new Error(schedule);
  return { schedule, offsetAt: zoneOffsets(timeZone) };
}

/** Cases of the tests of upstream's library, with the seconds left out. */
test.each([
  ['2012-07-09T14:45:00Z', '0/15 * * * *', 'UTC', '2012-07-09T15:00:00Z'],
  ['2012-07-09T14:59:59Z', '0/15 * * * *', 'UTC', '2012-07-09T15:00:00Z'],
  ['2012-07-09T15:45:00Z', '20-35/15 * * * *', 'UTC', '2012-07-09T16:20:00Z'],
  ['2012-07-09T23:46:00Z', '*/15 * * * *', 'UTC', '2012-07-10T00:00:00Z'],
  ['2012-07-09T23:35:51Z', '20-35/15 1/2 */2 * *', 'UTC', '2012-07-11T01:20:00Z'],
  ['2012-07-09T23:35:00Z', '0 0 9 Apr-Oct ?', 'UTC', '2012-08-09T00:00:00Z'],
  ['2012-07-09T23:35:00Z', '0 0 */5 Apr,Aug,Oct Mon', 'UTC', '2012-08-01T00:00:00Z'],
  ['2012-07-09T23:35:00Z', '0 0 */5 Oct Mon', 'UTC', '2012-10-01T00:00:00Z'],
  ['2012-07-09T23:35:00Z', '0 0 * Feb Mon', 'UTC', '2013-02-04T00:00:00Z'],
  ['2012-07-09T23:35:00Z', '0 0 29 Feb ?', 'UTC', '2016-02-29T00:00:00Z'],
  ['2012-07-09T23:35:00Z', '0 0 30 Feb ?', 'UTC', undefined],
  ['2012-12-31T23:59:45Z', '* * * * *', 'UTC', '2013-01-01T00:00:00Z'],
  ['2012-07-09T14:45:30Z', '@every 90s', 'UTC', '2012-07-09T14:47:00Z'],
  // Clocks go forward on 11 March and back on 4 November.
  ['2012-03-11T05:00:00Z', '30 2 11 Mar ?', 'America/New_York', '2013-03-11T06:30:00Z'],
  ['2012-03-11T06:00:00Z', '0 * * * *', 'America/New_York', '2012-03-11T07:00:00Z'],
  ['2012-11-04T04:00:00Z', '30 1 4 Nov ?', 'America/New_York', '2012-11-04T05:30:00Z'],
  ['2012-11-04T05:30:00Z', '30 1 4 Nov ?', 'America/New_York', '2012-11-04T06:30:00Z'],
  ['2012-11-04T04:00:00Z', '0 0 * * ?', 'America/New_York', '2012-11-05T05:00:00Z'],
  // Midnight does not exist there on that day.
  ['2018-11-03T12:00:00Z', '0 0 * * *', 'America/Sao_Paulo', '2018-11-05T02:00:00Z'],
  ['2021-06-01T00:00:00Z', '0 3 * * *', 'Asia/Kolkata', '2021-06-01T21:30:00Z'],
])('after %s the schedule %j in %s names %s', (after, schedule, zone, expected) => {
  const found = nextTime(zoned(schedule, zone), Date.parse(after));
  expect(found === undefined ? undefined : formatTime(found)).toBe(expected);
});

test('an unknown time zone throws', () => {
  expect(() => zoneOffsets('Mars/Olympus')).toThrow(RangeError);
});

const AT = Date.parse('2021-01-01T10:00:30Z');
const cronJobOf = (created: string, spec: Partial<CronJobSpec> = {}, last?: string): CronJob =>
  ({
    metadata: { creationTimestamp: created },
    spec: { schedule: '', jobTemplate: {}, ...spec },
    status: { lastScheduleTime: last },
  }) as unknown as CronJob;

test.each([
  ['0 * * * *', '2021-01-01T09:30:00Z', undefined, undefined, '2021-01-01T10:00:00Z', false, 3_570],
  ['0 * * * *', '2021-01-01T10:00:10Z', undefined, undefined, undefined, false, 3_570],
  ['0 * * * *', '2020-12-01T00:00:00Z', '2021-01-01T10:00:00Z', undefined, undefined, false, 3_570],
  ['0 * * * *', '2020-12-31T00:00:00Z', undefined, undefined, '2021-01-01T10:00:00Z', false, 3_570],
  ['* * * * *', '2020-12-31T00:00:00Z', undefined, undefined, '2021-01-01T10:00:00Z', true, 30],
  ['* * * * *', '2020-12-31T00:00:00Z', undefined, 90, '2021-01-01T10:00:00Z', false, 30],
  ['0 * * * *', '2020-12-31T00:00:00Z', undefined, 10, undefined, false, 3_570],
  ['30 6-16/4 * * 1-5', '2020-12-25T00:00:00Z', undefined, undefined, '2021-01-01T06:30:00Z', false, 1_770],
])(
  '%j since %s, last %s, deadline %s: due %s, too many %s, next in %d s',
  (schedule, created, last, deadline, due, isTooMany, waitSeconds) => {
    const spec = deadline === undefined ? {} : { startingDeadlineSeconds: deadline };
    const scheduled = { ...zoned(schedule), cronJob: cronJobOf(created, spec, last), nowMs: AT };
    const found = dueTime(scheduled);
    expect(found?.timeMs === undefined ? undefined : formatTime(found.timeMs)).toBe(due);
    expect(found?.isTooMany).toBe(isTooMany);
    expect(msUntilNext(scheduled)).toBe(waitSeconds * 1_000 + 100);
  },
);

test('a schedule that names a day of no month has no due time', () => {
  const cronJob = cronJobOf('2020-01-01T00:00:00Z');
  expect(dueTime({ ...zoned('0 0 31 2 *'), cronJob, nowMs: AT })).toBeUndefined();
});

test('the last of very many missed times is found with few searches', () => {
  const { schedule, offsetAt } = zoned('* * * 1 *');
  let searches = 0;
  const counted = (timeMs: number): number => {
    searches += 1;
    return offsetAt(timeMs);
  };
  const cronJob = cronJobOf('2020-01-31T23:58:30Z');
  const nowMs = Date.parse('2021-01-31T23:50:30Z');
  const found = dueTime({ schedule, offsetAt: counted, cronJob, nowMs });
  expect(found?.timeMs).toBe(Date.parse('2021-01-31T23:50:00Z'));
  expect(searches).toBeLessThan(200);
});

test('a Job of another client that has the name leaves the CronJob waiting for its next time', async () => {
  const client: Partial<Client> = {
    create: async () => Promise.reject(alreadyExists(JOBS, 'tick')),
    get: async () => ({ metadata: { name: 'tick', uid: 'other' } }) as never,
  };
  const jobTemplate = { metadata: {}, spec: { template: podTemplate({}) } };
  const cronJob = cronJobOf('2021-01-01T09:59:50Z', { schedule: '* * * * *', jobTemplate });
  const pass = new CronJobPass(
    { control: new JobControl(client as Client), report: () => undefined, isAnnotated: false },
    { cronJob, jobs: [], nowMs: AT },
  );
  expect(await pass.run(new AbortController().signal)).toEqual({ requeueAfterMs: 30_100 });
});
