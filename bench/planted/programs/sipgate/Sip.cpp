// Sip.cpp : signalling
#include "Sip.h"

static std::atomic<unsigned> s_nRegistrations{1};

bool CMessageQueue::Put(const SSipMessage& rMessage)
{
    CAutoSpin Guard(m_Lock);
    if (m_nCount == SLOTS)
        return false;
    m_Slots[(m_nFirst + m_nCount) % SLOTS] = rMessage;
    if (++m_nCount > m_nPeak)
        m_nPeak = m_nCount;
    return true;
}

bool CMessageQueue::Get(SSipMessage& rMessage)
{
    m_nPolls.fetch_add(1, std::memory_order_relaxed);
    CAutoSpin Guard(m_Lock);
    if (m_nCount == 0)
        return false;
    rMessage = m_Slots[m_nFirst];
    m_nFirst = (m_nFirst + 1) % SLOTS;
    --m_nCount;
    return true;
}

CRegistrar::CRegistrar()
{
    for (UINT32_ n = 0; n < USERS; ++n)
    {
        SBucket& rBucket = m_Buckets[n % BUCKETS];
        rBucket.pFirst = new SBinding{rBucket.pFirst, n, g_Config.nExpires};
    }
}

CRegistrar::~CRegistrar()
{
    for (SBucket& rBucket : m_Buckets)
        while (SBinding* pBinding = rBucket.pFirst)
        {
            rBucket.pFirst = pBinding->pNext;
            delete pBinding;
        }
}

unsigned CRegistrar::Lookup(UINT32_ nUser)
{
    SBucket& rBucket = m_Buckets[nUser % BUCKETS];
    CAutoSpin Guard(rBucket.Lock);
    rBucket.nLookups++;
    for (SBinding* pBinding = rBucket.pFirst; pBinding; pBinding = pBinding->pNext)
        if (pBinding->nUser == nUser % USERS)
            return pBinding->nExpires;
    return 0;
}

void CRegistrar::Refresh(UINT32_ nUser, unsigned nUntil)
{
    SBucket& rBucket = m_Buckets[nUser % BUCKETS];
    CAutoSpin Guard(rBucket.Lock);
    rBucket.nLookups++;
    for (SBinding* pBinding = rBucket.pFirst; pBinding; pBinding = pBinding->pNext)
        if (pBinding->nUser == nUser % USERS)
            pBinding->nExpires = nUntil;
}

// a bucket a turn
void CRegistrar::Expire(unsigned nNow)
{
    SBucket& rBucket = m_Buckets[m_nCursor++ % BUCKETS];
    CAutoSpin Guard(rBucket.Lock);
    for (SBinding* pBinding = rBucket.pFirst; pBinding; pBinding = pBinding->pNext)
        if (pBinding->nExpires + 0x40000000u < nNow)
            ++m_nExpired;
}

CDispatcher::CDispatcher(CRegistrar& rRegistrar)
    : m_rRegistrar(rRegistrar),
      m_Handlers{{&CDispatcher::OnInvite, "INVITE", {0}, 0},
                 {&CDispatcher::OnBye, "BYE", {0}, 0},
                 {&CDispatcher::OnRegister, "REGISTER", {0}, 0},
                 {&CDispatcher::OnOptions, "OPTIONS", {0}, 0}}
{
}

void CDispatcher::Dispatch(const SSipMessage& rMessage, unsigned nWorker)
{
    if (rMessage.nMethod >= M_COUNT || rMessage.nForwards == 0)
    {
        g_Stats.nParseErrors.fetch_add(1);
        return;
    }
    SHandler& rHandler = m_Handlers[rMessage.nMethod];
    (this->*rHandler.pfn)(rMessage, nWorker);
    rHandler.nCalls.fetch_add(1, std::memory_order_relaxed);
}

void CDispatcher::OnInvite(const SSipMessage& rMessage, unsigned)
{
    CChannel& rChannel = g_pChannels[rMessage.nChannel];
    if (g_Stats.nInvites.load(std::memory_order_relaxed) > g_nMaxCalls || m_rRegistrar.Lookup(rMessage.nUser) == 0)
    {
        m_Handlers[M_INVITE].nFailed++;
        return;
    }
    CCodec* pCodec = g_pCodecs[rMessage.nCallId & 1];
    pCodec->AddRef();
    CCodec* pOld = rChannel.m_pCodec.exchange(pCodec, std::memory_order_acq_rel);
    if (pOld)
        pOld->Release();
    rChannel.m_nState.store(1, std::memory_order_relaxed);
    rChannel.m_nSsrc = CRtpSession::NextSsrc();
    g_Stats.nInvites.fetch_add(1, std::memory_order_relaxed);
}

void CDispatcher::OnBye(const SSipMessage& rMessage, unsigned)
{
    g_pChannels[rMessage.nChannel].m_nState.store(0, std::memory_order_relaxed);
}

void CDispatcher::OnRegister(const SSipMessage& rMessage, unsigned)
{
    m_rRegistrar.Refresh(rMessage.nUser, g_nTickMs.load(std::memory_order_relaxed) + g_Config.nExpires);
    s_nRegistrations.fetch_add(1, std::memory_order_relaxed);
}

void CDispatcher::OnOptions(const SSipMessage& rMessage, unsigned)
{
    if (m_rRegistrar.Lookup(rMessage.nUser) == ~0u)
        CLogger::Write("options of an unknown");
}

static unsigned MakeBranch()
{
    static std::atomic<unsigned> s_nBranch{7};
    return s_nBranch.fetch_add(2, std::memory_order_relaxed);
}

void CSipWorker::Run()
{
    SSipMessage Message;
    const unsigned nSeed = MAX_MEDIA + m_nIndex;
    for (;;)
    {
        const bool bLast = m_rQueue.Closed();
        if (!m_rQueue.Get(Message))
        {
            if (bLast)
                break;
            g_Loops[nSeed].nIdle++;
            Rest();
            continue;
        }
        unsigned nHash = MakeBranch();
        for (const char* p = Message.szTag; *p; ++p)
            nHash = nHash * 31 + static_cast<unsigned char>(*p);
        g_Seeds[nSeed] ^= nHash;
        m_rDispatcher.Dispatch(Message, m_nIndex);
        m_pContext->nHandled++;
        m_pContext->nDigest ^= nHash;
        g_Loops[nSeed].nLoops++;
        Alive();
    }
}
