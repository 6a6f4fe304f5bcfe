# The service alone: no tests, no demo, no build step. Node runs the sources.
#   docker build -t x402-scanner .
#   docker run -p 4021:4021 -v x402-data:/app/data \
#     -e PAYMENT_MODE=facilitator -e FACILITATOR_URL=… -e PAY_TO=… -e BASE_URL=https://… -e RPC_URL=https://… x402-scanner
# In production payments that settle nothing are refused; to look around, add -e ALLOW_MOCK_PAYMENTS=1.
# By tag: the digest of a base image is whatever its registry says today. Pin the one that you have tested with
# --build-arg NODE_IMAGE=node:24-slim@sha256:…
ARG NODE_IMAGE=node:24-slim
FROM ${NODE_IMAGE}

ENV NODE_ENV=production HOST=0.0.0.0 PORT=4021
WORKDIR /app

# The optional packages are tools and a Node of their own for machines with an older one.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force

COPY . .
RUN mkdir data && chown node:node data
VOLUME /app/data
USER node

EXPOSE 4021
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

CMD ["node", "src/main.ts"]
