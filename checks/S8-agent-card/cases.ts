import type { CheckCase } from '#check';
import type { JsonObject } from '#parse/json';
import {
  agentCard,
  answer,
  asked,
  failure,
  html,
  NOT_FOUND,
  ORIGIN,
} from '../../test/fixtures/observations/build-observations.ts';

const PATH = '/.well-known/agent-card.json';

function withCard(changes: JsonObject): CheckCase['seen'] {
  return { agentCard: asked(PATH, answer(200, agentCard(changes))) };
}

/** A card of A2A 1.0 has interfaces in place of url and protocolVersion. */
function withVersion1Card(interfaces: readonly JsonObject[]): CheckCase['seen'] {
  const { protocolVersion: _version, url: _url, ...rest } = agentCard();
  return { agentCard: asked(PATH, answer(200, { ...rest, supportedInterfaces: interfaces })) };
}

const OWN_INTERFACE = {
  url: `${ORIGIN}/a2a`,
  protocolBinding: 'HTTP+JSON',
  protocolVersion: '1.0',
};

const cases: readonly CheckCase[] = [
  {
    name: 'the card answers 404',
    seen: { agentCard: asked(PATH, NOT_FOUND) },
    expect: { status: 'fail', outcome: 'absent', evidence: [PATH, '404'] },
  },
  {
    name: 'the card gets no answer',
    seen: { agentCard: failure('reset') },
    expect: { status: 'fail', outcome: 'absent', evidence: ['reset'] },
  },
  {
    name: 'the card is an HTML page',
    seen: { agentCard: asked(PATH, html(200, '<!doctype html><html></html>')) },
    expect: { status: 'fail', outcome: 'absent', evidence: ['HTML'] },
  },
  {
    name: 'the card is text',
    seen: { agentCard: asked(PATH, answer(200, 'name: Seller')) },
    expect: { status: 'fail', outcome: 'not-json', evidence: [PATH] },
  },
  {
    name: 'the card is a list',
    seen: { agentCard: asked(PATH, answer(200, [])) },
    expect: { status: 'fail', outcome: 'not-json', evidence: ['not an object'] },
  },
  {
    name: 'the only card is at the old path',
    seen: {
      agentCard: asked(PATH, NOT_FOUND),
      agentJson: asked('/.well-known/agent.json', answer(200, agentCard())),
    },
    expect: { status: 'warn', outcome: 'old-path', evidence: ['/.well-known/agent.json'] },
  },
  {
    name: 'the card answers 429',
    seen: { agentCard: answer(429, {}), agentJson: asked('/.well-known/agent.json', NOT_FOUND) },
    expect: { status: 'warn', outcome: 'rate-limited', evidence: ['429'] },
  },
  {
    name: 'the card is longer than the scan reads',
    seen: {
      agentCard: answer(200, '{"name":"', {}, { truncated: true }),
      agentJson: asked('/.well-known/agent.json', NOT_FOUND),
    },
    expect: { status: 'warn', outcome: 'over-limit', evidence: ['256 KiB'] },
  },
  {
    name: 'the card has more values than the scan reads',
    seen: { agentCard: asked(PATH, answer(200, `[${'0,'.repeat(50_000)}0]`)) },
    expect: { status: 'warn', outcome: 'over-limit', evidence: ['over 50000 nodes'] },
  },
  {
    name: 'both paths have no card',
    seen: {
      agentCard: asked(PATH, NOT_FOUND),
      agentJson: asked('/.well-known/agent.json', answer(200, [])),
    },
    expect: { status: 'fail', outcome: 'absent', evidence: ['404'] },
  },
  {
    name: 'the card is complete for 0.3 and incomplete for 1.0',
    seen: withCard({ supportedInterfaces: [{ url: OWN_INTERFACE.url }] }),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'the card is incomplete for 0.3 and for 1.0',
    seen: withCard({ supportedInterfaces: [{ url: OWN_INTERFACE.url }], url: 7 }),
    expect: {
      status: 'warn',
      outcome: 'partial',
      evidence: ['/supportedInterfaces/0/protocolBinding'],
    },
  },
  {
    name: 'a required list is empty',
    seen: withCard({ defaultInputModes: [] }),
    expect: { status: 'warn', outcome: 'partial', evidence: ['defaultInputModes'] },
  },
  {
    name: 'a required field has another type',
    seen: withCard({ capabilities: 'none' }),
    expect: { status: 'warn', outcome: 'partial', evidence: ['capabilities'] },
  },
  {
    name: 'a skill has no tags',
    seen: withCard({ skills: [{ id: 'a', name: 'A', description: 'A' }] }),
    expect: { status: 'warn', outcome: 'partial', evidence: ['/skills/0/tags'] },
  },
  {
    name: 'an interface of a 1.0 card has no binding',
    seen: withVersion1Card([{ url: OWN_INTERFACE.url, protocolVersion: '1.0' }]),
    expect: {
      status: 'warn',
      outcome: 'partial',
      evidence: ['/supportedInterfaces/0/protocolBinding'],
    },
  },
  {
    name: 'the url of the card is on another host',
    seen: withCard({ url: 'https://api.other.example/a2a' }),
    expect: { status: 'warn', outcome: 'other-host', evidence: ['api.other.example'] },
  },
  {
    name: 'one of two interfaces of a 1.0 card is on another host',
    seen: withVersion1Card([OWN_INTERFACE, { ...OWN_INTERFACE, url: 'https://other.example/' }]),
    expect: { status: 'warn', outcome: 'other-host', evidence: ['other.example'] },
  },
  {
    name: 'the card is complete for 0.3',
    seen: {},
    expect: { status: 'pass', outcome: 'complete', evidence: ['"Seller"'] },
  },
  {
    name: 'the card is complete for 0.3, without skills and with an extra member',
    seen: withCard({ skills: [], x402: { version: 2 } }),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'the card is complete for 1.0, with another port of the host',
    seen: withVersion1Card([{ ...OWN_INTERFACE, url: 'https://seller.example:8443/a2a' }]),
    expect: { status: 'pass', outcome: 'complete' },
  },
];

export default cases;
