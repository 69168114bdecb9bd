import assert from 'node:assert/strict'
import { joinMetrics } from './joined.ts'

const text = (requests: number, more = ''): string =>
  [
    '# HELP requests_total Requests.',
    '# TYPE requests_total counter',
    `requests_total{verb="get",path="a b} c"} ${requests}`,
    '',
    '# HELP up Whether it runs.',
    '# TYPE up gauge',
    'up 1',
    more,
  ].join('\n')

describe('metrics of several processes', () => {
  it('are one family each, with samples of every process', () => {
    assert.deepEqual(joinMetrics([text(1), text(2)]).split('\n'), [
      '# HELP requests_total Requests.',
      '# TYPE requests_total counter',
      'requests_total{replica="1",verb="get",path="a b} c"} 1',
      'requests_total{replica="2",verb="get",path="a b} c"} 2',
      '',
      '# HELP up Whether it runs.',
      '# TYPE up gauge',
      'up{replica="1"} 1',
      'up{replica="2"} 1',
      '',
    ])
  })

  it('have families that only one process has', () => {
    const joined = joinMetrics([text(1), text(2, '\n# TYPE rare counter\nrare{} 3\n')])
    assert.match(joined, /\n# TYPE rare counter\nrare\{replica="2"\} 3\n/)
  })
})
