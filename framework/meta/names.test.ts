import assert from 'node:assert/strict'
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from './names.ts'

const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const keyText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

describe('names', () => {
  it('checks subdomains', () => {
    assert.deepEqual(dns1123SubdomainErrors('a.b-c.d0'), [])
    assert.deepEqual(dns1123SubdomainErrors('A'), [subdomainText])
    assert.deepEqual(dns1123SubdomainErrors(''), [subdomainText])
    assert.deepEqual(dns1123SubdomainErrors('a'.repeat(254)), ['must be no more than 253 characters'])
    assert.deepEqual(dns1123SubdomainErrors('a\n'), [subdomainText])
  })

  it('checks labels', () => {
    assert.deepEqual(dns1123LabelErrors('0-a'), [])
    assert.deepEqual(dns1123LabelErrors('a.b'), ['must not contain dots'])
    assert.deepEqual(dns1123LabelErrors('-a'), [
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ])
    assert.deepEqual(dns1035LabelErrors('a-1'), [])
    assert.deepEqual(dns1035LabelErrors('1a'), [
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ])
  })

  it('checks keys of labels', () => {
    for (const good of ['a', 'A_b.c', 'example.com/Name', 'x'.repeat(63)])
      assert.deepEqual(qualifiedNameErrors(good), [])
    assert.deepEqual(qualifiedNameErrors('/a'), ['prefix part must be non-empty'])
    assert.deepEqual(qualifiedNameErrors('e/'), ['name part must be non-empty', `name part ${keyText}`])
    assert.deepEqual(qualifiedNameErrors('E/a'), [`prefix part ${subdomainText}`])
    assert.deepEqual(qualifiedNameErrors('a/b/c'), [
      `a valid label key ${keyText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ])
    assert.deepEqual(qualifiedNameErrors('x'.repeat(64)), ['name part must be no more than 63 bytes'])
  })

  it('checks values of labels', () => {
    assert.deepEqual(labelValueErrors(''), [])
    assert.deepEqual(labelValueErrors('x'.repeat(64)), ['must be no more than 63 bytes'])
    assert.deepEqual(labelValueErrors('-'), [
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ])
  })

  it('checks path segments', () => {
    assert.deepEqual(pathSegmentErrors('system:foo'), [])
    assert.deepEqual(pathSegmentErrors('..'), ["may not be '..'"])
    for (const name of ['a\u0000b', 'a\nb', 'a\u007f', '\ud800'])
      assert.deepEqual(pathSegmentErrors(name), ['may not contain control characters or invalid Unicode'])
    assert.deepEqual(pathSegmentErrors('é'.repeat(513)), ['must be no more than 1024 bytes'])
    assert.deepEqual(pathSegmentErrors('a/b%'), ["may not contain '/'", "may not contain '%'"])
  })

  it('stays fast on long hostile names', () => {
    for (const check of [dns1123SubdomainErrors, qualifiedNameErrors, labelValueErrors])
      assert.notDeepEqual(check(`${'a-'.repeat(500_000)}.`), [])
  })
})
