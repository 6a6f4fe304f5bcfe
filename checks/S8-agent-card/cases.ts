import type { CheckCase } from '../../src/engine/define-check.ts';
import type { JsonObject } from '../../src/parse/json/json.ts';
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

function card(changes: JsonObject): CheckCase['seen'] {
  return { agentCard: asked(PATH, answer(200, agentCard(changes))) };
}

/** A card by A2A 1.0: interfaces in place of url and protocolVersion. */
function newCard(interfaces: readonly JsonObject[]): CheckCase['seen'] {
  const { protocolVersion: _version, url: _url, ...rest } = agentCard();
  return { agentCard: asked(PATH, answer(200, { ...rest, supportedInterfaces: interfaces })) };
}

const own = { url: `${ORIGIN}/a2a`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' };

const cases: readonly CheckCase[] = [
  {
    name: 'not there',
    seen: { agentCard: asked(PATH, NOT_FOUND) },
    expect: { status: 'fail', outcome: 'absent', evidence: [PATH, '404'] },
  },
  {
    name: 'no answer',
    seen: { agentCard: failure('reset') },
    expect: { status: 'fail', outcome: 'absent', evidence: ['reset'] },
  },
  {
    name: 'a page for people in its place',
    seen: { agentCard: asked(PATH, html(200, '<!doctype html><html></html>')) },
    expect: { status: 'fail', outcome: 'absent', evidence: ['HTML'] },
  },
  {
    name: 'text that is not JSON',
    seen: { agentCard: asked(PATH, answer(200, 'name: Seller')) },
    expect: { status: 'fail', outcome: 'not-json', evidence: [PATH] },
  },
  {
    name: 'JSON, but a list',
    seen: { agentCard: asked(PATH, answer(200, [])) },
    expect: { status: 'fail', outcome: 'not-json', evidence: ['not an object'] },
  },
  {
    name: 'only under the name of old',
    seen: {
      agentCard: asked(PATH, NOT_FOUND),
      agentJson: asked('/.well-known/agent.json', answer(200, agentCard())),
    },
    expect: { status: 'warn', outcome: 'old-path', evidence: ['/.well-known/agent.json'] },
  },
  {
    name: 'only under the name of old, and no card there either',
    seen: {
      agentCard: asked(PATH, NOT_FOUND),
      agentJson: asked('/.well-known/agent.json', answer(200, [])),
    },
    expect: { status: 'fail', outcome: 'absent', evidence: ['404'] },
  },
  {
    name: 'whole by 0.3, with half an interface of 1.0 beside it',
    seen: card({ supportedInterfaces: [{ url: own.url }] }),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'whole by neither version: compared with the one that its interfaces name',
    seen: card({ supportedInterfaces: [{ url: own.url }], url: 7 }),
    expect: {
      status: 'warn',
      outcome: 'partial',
      evidence: ['/supportedInterfaces/0/protocolBinding'],
    },
  },
  {
    name: 'a field is missing',
    seen: card({ defaultInputModes: [] }),
    expect: { status: 'warn', outcome: 'partial', evidence: ['defaultInputModes'] },
  },
  {
    name: 'a field of another type',
    seen: card({ capabilities: 'none' }),
    expect: { status: 'warn', outcome: 'partial', evidence: ['capabilities'] },
  },
  {
    name: 'a skill without tags',
    seen: card({ skills: [{ id: 'a', name: 'A', description: 'A' }] }),
    expect: { status: 'warn', outcome: 'partial', evidence: ['/skills/0/tags'] },
  },
  {
    name: '1.0: an interface without its binding',
    seen: newCard([{ url: own.url, protocolVersion: '1.0' }]),
    expect: {
      status: 'warn',
      outcome: 'partial',
      evidence: ['/supportedInterfaces/0/protocolBinding'],
    },
  },
  {
    name: 'the url is on another host',
    seen: card({ url: 'https://api.other.example/a2a' }),
    expect: { status: 'warn', outcome: 'other-host', evidence: ['api.other.example'] },
  },
  {
    name: '1.0: one of two interfaces is on another host',
    seen: newCard([own, { ...own, url: 'https://other.example/' }]),
    expect: { status: 'warn', outcome: 'other-host', evidence: ['other.example'] },
  },
  {
    name: '0.3, complete',
    seen: {},
    expect: { status: 'pass', outcome: 'complete', evidence: ['"Seller"'] },
  },
  {
    name: '0.3, complete, without any skill and with members of its own',
    seen: card({ skills: [], x402: { version: 2 } }),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: '1.0, complete; another port of the host is the same host name',
    seen: newCard([{ ...own, url: 'https://seller.example:8443/a2a' }]),
    expect: { status: 'pass', outcome: 'complete' },
  },
];

export default cases;
