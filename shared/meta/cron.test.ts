import { scheduleProblem } from './cron';

test.each([
  '* * * * *',
  '*/5 * * * *',
  '0 0 1 1 0',
  '0,30 8-18/2 ? JAN-mar mon,Fri',
  '59 23 31 12 6',
  '5/15 * * * *',
  '  0   4 * * 1 ',
  '@yearly',
  '@hourly',
  '@every 1h30m',
])('the schedule %j is good', (schedule) => {
  expect(scheduleProblem(schedule)).toBeUndefined();
});

test.each([
  ['60 * * * *', 'above maximum'],
  ['* 24 * * *', 'above maximum'],
  ['* * 0 * *', 'below minimum'],
  ['* * * 13 *', 'above maximum'],
  ['* * * * 7', 'above maximum'],
  ['* * * *', 'Expected exactly 5 fields'],
  ['* * * * * *', 'Expected exactly 5 fields'],
  ['*/0 * * * *', 'positive number'],
  ['5-1 * * * *', 'beyond end of range'],
  ['1-2-3 * * * *', 'Too many hyphens'],
  ['1/2/3 * * * *', 'Too many slashes'],
  ['a * * * *', 'Failed to parse int'],
  ['1- * * * *', 'Failed to parse int'],
  ['-1 * * * *', 'Failed to parse int'],
  ['*/x * * * *', 'Failed to parse int'],
  ['@noon', 'Unrecognized descriptor'],
  ['@every soon', 'Failed to parse duration'],
  ['TZ=UTC * * * * *', 'Expected exactly 5 fields'],
])('the schedule %j is refused: %s', (schedule, problem) => {
  expect(scheduleProblem(schedule)).toContain(problem);
});
