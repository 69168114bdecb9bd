import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { afterSettingBack } from '../../test/support/time/clocks.ts'
import { Lookups, type ResolveHost } from './lookups.ts'

const found: readonly LookupAddress[] = [{ address: '192.0.2.1', family: 4 }]

/** Lookups that are answered by hand. */
function byHand(limits = {}) {
  const asked: { readonly host: string; answer(error?: Error): void }[] = []
  const resolve: ResolveHost = (host, _, answer) =>
    void asked.push({ host, answer: error => answer(error ?? null, error ? [] : found) })
  const lookups = new Lookups(limits, resolve)
  const answers: string[] = []
  const ask = (host: string, options = {}): void =>
    lookups.resolve(host, options, (error, all) =>
      answers.push(`${host}: ${(error as NodeJS.ErrnoException)?.code ?? all.map(({ address }) => address)}`),
    )
  return { ask, asked, answers, hosts: () => asked.map(({ host }) => host) }
}

describe('lookups of host names', () => {
  it('are one for all who ask at the same time', () => {
    const { ask, asked, answers, hosts } = byHand()
    for (const host of ['a.example', 'A.example', 'b.example', 'a.example']) ask(host)
    ask('a.example', { family: 6 })
    assert.deepEqual(hosts(), ['a.example', 'b.example', 'a.example'])
    asked[0]?.answer()
    assert.deepEqual(answers, ['a.example: 192.0.2.1', 'A.example: 192.0.2.1', 'a.example: 192.0.2.1'])
    ask('a.example')
    assert.equal(asked.length, 4, 'an answer is not kept')
  })

  it('of silent name servers leave place for names of other domains', () => {
    const { ask, hosts, answers, asked } = byHand()
    for (let i = 0; i < 50; i++) ask(`h${i}.slow.example`)
    ask('webhook.prompt.example')
    assert.deepEqual(hosts(), ['h0.slow.example', 'h1.slow.example', 'webhook.prompt.example'])
    asked[2]?.answer()
    assert.deepEqual(answers, ['webhook.prompt.example: 192.0.2.1'])
    asked[0]?.answer(Object.assign(new Error('again'), { code: 'EAI_AGAIN' }))
    assert.deepEqual(hosts().slice(3), ['h2.slow.example'])
  })

  it('are no more than the limit, and go on in their order', () => {
    const { ask, asked, hosts } = byHand({ most: 2 })
    for (const host of ['a.one.example', 'a.two.example', 'a.six.example', 'a.ten.example']) ask(host)
    assert.deepEqual(hosts(), ['a.one.example', 'a.two.example'])
    asked[1]?.answer()
    asked[0]?.answer()
    assert.deepEqual(hosts().slice(2), ['a.six.example', 'a.ten.example'])
  })

  it('that waited longer than a connection does fail without being made', async () => {
    const { ask, asked, answers } = byHand({ mostOfDomain: 1 })
    for (const host of ['a.slow.test', 'b.slow.test']) ask(host)
    await afterSettingBack(10_001, () => asked[0]?.answer())
    assert.deepEqual(answers, ['a.slow.test: 192.0.2.1', 'b.slow.test: EAI_AGAIN'])
    assert.equal(asked.length, 1)
  })
})
