# Part of Rivulet. See README.md for the architecture.
# Builds the server with the Swift toolchain, and packs it with the libraries it links and nothing else.
#
#   docker build -t rivulet .
#   docker run -p 8080:8080 -v rivulet-data:/data rivulet

FROM swift:6.3-bookworm AS build
RUN apt-get update -q \
    && apt-get install -y -q --no-install-recommends libuv1-dev libsqlite3-dev zlib1g-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /rivulet
# The dependencies change seldom: they are a layer of their own.
COPY Package.swift ./
RUN swift package resolve
COPY Sources Sources
# Package.swift names the targets of tests and benchmarks, so their folders have to be there; they are not built.
COPY Tests Tests
COPY Benchmarks Benchmarks
RUN swift build -c release --product rivulet --static-swift-stdlib \
    && install -D -s "$(swift build -c release --static-swift-stdlib --show-bin-path)/rivulet" /out/rivulet

FROM debian:bookworm-slim
RUN apt-get update -q \
    && apt-get install -y -q --no-install-recommends libuv1 libsqlite3-0 zlib1g libstdc++6 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin rivulet \
    && install -d -o rivulet -g rivulet -m 0750 /data
COPY --from=build /out/rivulet /usr/local/bin/rivulet
COPY Public /usr/share/rivulet/Public
USER rivulet
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# Slim has no curl; bash opens the connection itself.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${RIVULET_PORT:-8080} && printf 'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
ENTRYPOINT ["rivulet"]
CMD ["serve", "--host", "0.0.0.0", "--data", "/data", "--public", "/usr/share/rivulet/Public"]
