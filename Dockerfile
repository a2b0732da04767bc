# Builds the server with the Swift toolchain. The image has the binary, the libraries that it needs, a CA file and the pages, and
# nothing else: no shell, no package manager, no user but the one that it runs as.
#
#   docker build -t rivulet .
#   docker run -p 127.0.0.1:8080:8080 -v rivulet-data:/data --read-only rivulet

FROM swift:6.3-bookworm AS build
RUN apt-get update -q \
    && apt-get install -y -q --no-install-recommends ca-certificates libuv1-dev libsqlite3-dev zlib1g-dev pkg-config \
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
    && install -D -s "$(swift build -c release --static-swift-stdlib --show-bin-path)/rivulet" /image/usr/local/bin/rivulet
# What the loader needs, the loader itself included, at the places where it looks for it.
RUN ldd /image/usr/local/bin/rivulet | tee /needed \
    && ! grep -q 'not found' /needed \
    && cp -L --parents $(grep -o '/[^ ]*' /needed) /etc/ssl/certs/ca-certificates.crt /image \
    && install -d -m 0700 /data

FROM scratch
COPY --from=build /image /
COPY --from=build --chown=10001:10001 /data /data
COPY Public /usr/share/rivulet/Public
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=4s --start-period=5s CMD ["/usr/local/bin/rivulet", "health"]
ENTRYPOINT ["/usr/local/bin/rivulet"]
CMD ["serve", "--host", "0.0.0.0", "--open", "--data", "/data", "--public", "/usr/share/rivulet/Public"]
